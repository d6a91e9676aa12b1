"""surefit: fine-tune language models with a verdict first and evidence last."""
