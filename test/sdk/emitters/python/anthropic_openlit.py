from anthropic_steps import main


def instrument(provider):
    import openlit

    # It would fetch its list of prices.
    openlit.init(pricing_json="{}", disable_metrics=True)


main(instrument)
