from althaia.engine.analysis.steps import Kind

KINDS: tuple[Kind, ...]
