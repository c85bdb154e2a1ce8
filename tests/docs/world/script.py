import marshmallow

print(marshmallow.__file__)
