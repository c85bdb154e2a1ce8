from althaia.engine.steps import Kind

KINDS: tuple[Kind, ...]
