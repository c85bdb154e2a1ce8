"""A shop on real parts: database, ORM, frameworks, servers, clients; patched and not."""
