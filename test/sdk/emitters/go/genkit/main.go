// Genkit with its plugin for servers that speak OpenAI's protocol.
package main

import (
	"context"

	"steps"

	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/genkit"
	"github.com/firebase/genkit/go/plugins/compat_oai"
	"github.com/openai/openai-go/option"
)

func main() {
	ctx := context.Background()
	provider := steps.Open(ctx)
	plugin := &compat_oai.OpenAICompatible{
		Provider: "openai", APIKey: "none", BaseURL: steps.Provider + "/v1",
		Opts: []option.RequestOption{option.WithMaxRetries(0)},
	}
	g := genkit.Init(ctx, genkit.WithPlugins(plugin))
	model := plugin.DefineModel("openai", "gpt-5", ai.ModelOptions{Supports: &compat_oai.Multimodal})
	weather := genkit.DefineTool(g, "get_weather", "The weather of a city.",
		func(_ *ai.ToolContext, _ struct {
			City string `json:"city"`
		}) (string, error) {
			return steps.Sunny, nil
		})
	ask := func(text string, more ...ai.GenerateOption) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := genkit.Generate(ctx, g, append(more, ai.WithModel(model), ai.WithPrompt(text))...)
			return err
		}
	}
	steps.Run(ctx, provider,
		steps.Step{Name: "plain", Run: ask(steps.Plain)},
		steps.Step{Name: "tool", Run: ask(steps.Weather, ai.WithTools(weather))},
		steps.Step{Name: "stream", Run: ask(steps.Stream,
			ai.WithStreaming(func(context.Context, *ai.ModelResponseChunk) error { return nil }))},
		steps.Step{Name: "fail", Run: ask(steps.Fail)},
	)
}
