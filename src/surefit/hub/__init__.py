"""The only code that talks to the Hugging Face Hub."""
