// Anthropic's client: messages with its runner of tools, counts of tokens and the list of models.
package main

import (
	"context"
	"fmt"

	"clients/cells"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/anthropics/anthropic-sdk-go/v2/toolrunner"
)

var client = anthropic.NewClient(option.WithBaseURL(cells.Root), option.WithAPIKey(cells.Key), option.WithMaxRetries(0))

var messages = []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(cells.Question))}

func asked(model string) anthropic.MessageNewParams {
	return anthropic.MessageNewParams{Model: anthropic.Model(model), MaxTokens: 64, Messages: messages}
}

func plain(ctx context.Context, model string) error {
	message, err := client.Messages.New(ctx, asked(model))
	if err != nil {
		return err
	}
	return cells.CheckText(message.Content[0].Text)
}

func stream(ctx context.Context, model string) error {
	events := client.Messages.NewStreaming(ctx, asked(model))
	whole := anthropic.Message{}
	var pieces []string
	for events.Next() {
		event := events.Current()
		if err := whole.Accumulate(event); err != nil {
			return err
		}
		if delta, ok := event.AsAny().(anthropic.ContentBlockDeltaEvent); ok {
			pieces = append(pieces, delta.Delta.Text)
		}
	}
	if events.Err() != nil {
		return events.Err()
	}
	if whole.StopReason != anthropic.StopReasonEndTurn {
		return fmt.Errorf("it stopped for %q", whole.StopReason)
	}
	return cells.CheckStream(pieces, whole.Usage.InputTokens*whole.Usage.OutputTokens)
}

type numbers struct {
	A int `json:"a"`
	B int `json:"b"`
}

func tools(ctx context.Context, model string) error {
	uses := 0
	schema := anthropic.BetaToolInputSchemaParam{Properties: cells.Add["properties"], Required: []string{"a", "b"}}
	tool := toolrunner.NewBetaTool("add", "Adds two numbers.", schema,
		func(_ context.Context, given numbers) (anthropic.BetaToolResultBlockParamContentUnion, error) {
			uses++
			text := anthropic.BetaTextBlockParam{Text: fmt.Sprint(given.A + given.B)}
			return anthropic.BetaToolResultBlockParamContentUnion{OfText: &text}, nil
		})
	params := anthropic.BetaToolRunnerParams{BetaMessageNewParams: anthropic.BetaMessageNewParams{
		Model: anthropic.Model(model), MaxTokens: 256,
		Messages: []anthropic.BetaMessageParam{anthropic.NewBetaUserMessage(anthropic.NewBetaTextBlock(cells.Question))},
	}}
	last, err := client.Beta.Messages.NewToolRunner([]anthropic.BetaTool{tool}, params).RunToCompletion(ctx)
	if err != nil {
		return err
	}
	if uses == 0 {
		return fmt.Errorf("the tool was not used")
	}
	return cells.CheckText(last.Content[0].Text)
}

func structured(ctx context.Context, model string) error {
	params := asked(model)
	params.OutputConfig.Format = anthropic.JSONOutputFormatParam{Schema: cells.Sum}
	message, err := client.Messages.New(ctx, params)
	if err != nil {
		return err
	}
	return cells.CheckSum(message.Content[0].Text)
}

func count(ctx context.Context, model string) error {
	counted, err := client.Messages.CountTokens(ctx, anthropic.MessageCountTokensParams{
		Model: anthropic.Model(model), Messages: messages,
	})
	if err == nil && counted.InputTokens == 0 {
		err = fmt.Errorf("no tokens were counted")
	}
	return err
}

func models(ctx context.Context, model string) error {
	list := client.Models.ListAutoPaging(ctx, anthropic.ModelListParams{})
	for list.Next() {
		if list.Current().ID == model {
			_, err := client.Models.Get(ctx, model, anthropic.ModelGetParams{})
			return err
		}
	}
	return fmt.Errorf("it is not in the list: %w", list.Err())
}

func fail(ctx context.Context, _ string) error {
	_, err := client.Messages.New(ctx, asked(cells.Missing))
	return cells.CheckError(err, func(own *anthropic.Error) (int, string) { return own.StatusCode, own.Error() })
}

func main() {
	cells.Run(
		cells.Cell{Way: "plain", Run: plain},
		cells.Cell{Way: "stream", Run: stream},
		cells.Cell{Way: "tools", Run: tools},
		cells.Cell{Way: "structured", Run: structured},
		cells.Cell{Way: "tokens", Run: count},
		cells.Cell{Way: "models", Run: models},
		cells.Cell{Way: "errors", Run: fail},
	)
}
