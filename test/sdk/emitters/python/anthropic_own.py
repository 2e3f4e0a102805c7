"""The spans that the SDK emits by itself."""

from anthropic_steps import main

main(lambda provider: None)
