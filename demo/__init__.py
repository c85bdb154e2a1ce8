"""A real collection dumped through marshmallow twice: by upstream, and by the compiled copy."""
