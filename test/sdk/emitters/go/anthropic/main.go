// Anthropic's client by itself, which sends spans of its own.
package main

import (
	"context"

	"steps"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"
)

func main() {
	ctx := context.Background()
	provider := steps.Open(ctx)
	client := anthropic.NewClient(option.WithBaseURL(steps.Provider), option.WithAPIKey("none"), option.WithMaxRetries(0),
		option.WithOpenTelemetryConversationID(steps.Conversation))
	params := func(tools []anthropic.ToolUnionParam, messages ...anthropic.MessageParam) anthropic.MessageNewParams {
		return anthropic.MessageNewParams{
			Model: "claude-sonnet-4-5", MaxTokens: 400, Messages: messages, Tools: tools,
			Metadata: anthropic.MetadataParam{UserID: anthropic.String(steps.User)},
		}
	}
	said := func(text string) anthropic.MessageParam {
		return anthropic.NewUserMessage(anthropic.NewTextBlock(text))
	}
	ask := func(text string) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := client.Messages.New(ctx, params(nil, said(text)))
			return err
		}
	}
	steps.Run(ctx, provider,
		steps.Step{Name: "plain", Run: ask(steps.Plain)},
		steps.Step{Name: "tool", Run: func(ctx context.Context) error {
			schema := anthropic.ToolInputSchemaParam{Properties: map[string]any{"city": map[string]any{"type": "string"}}}
			tools := []anthropic.ToolUnionParam{anthropic.ToolUnionParamOfTool(schema, "get_weather")}
			message, err := client.Messages.New(ctx, params(tools, said(steps.Weather)))
			if err != nil {
				return err
			}
			result := anthropic.NewToolResultBlock(message.Content[0].ID, steps.Sunny, false)
			_, err = client.Messages.New(ctx, params(tools, said(steps.Weather), message.ToParam(), anthropic.NewUserMessage(result)))
			return err
		}},
		steps.Step{Name: "stream", Run: func(ctx context.Context) error {
			stream := client.Messages.NewStreaming(ctx, params(nil, said(steps.Stream)))
			for stream.Next() {
			}
			return stream.Err()
		}},
		steps.Step{Name: "fail", Run: ask(steps.Fail)},
	)
}
