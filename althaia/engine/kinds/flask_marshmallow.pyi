from althaia.engine.steps import PackageKind

KINDS: tuple[PackageKind, ...]
