from althaia.engine.analysis.steps import PackageKind

KINDS: tuple[PackageKind, ...]
