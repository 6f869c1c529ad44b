"""Agent clients: a hook's payload in, an event out; a text in, one object of the client's own shape out."""
