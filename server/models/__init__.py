"""Models and their providers: who answers, what it can do, and its stream of text.

:mod:`server.models.hub` is the face of this package. Providers differ by what they were seen to do
(:mod:`server.models.profile`), never by their name.
"""
