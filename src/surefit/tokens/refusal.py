"""How a chat template says no."""


class TemplateRefusalError(Exception):
    """The template does not take this conversation. The text says why, in the template's words."""
