from althaia.plans.analyse import Kind

KINDS: tuple[Kind, ...]
