// OpenAI's own client: chat completions, responses, and what is no chat.
package main

import (
	"context"
	"fmt"

	"clients/cells"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"
)

var client = openai.NewClient(option.WithMaxRetries(0))

func asked(model string) openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{
		Model:    model,
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(cells.Question)},
	}
}

func plain(ctx context.Context, model string) error {
	completion, err := client.Chat.Completions.New(ctx, asked(model))
	if err != nil {
		return err
	}
	return cells.CheckText(completion.Choices[0].Message.Content)
}

func stream(ctx context.Context, model string) error {
	params := asked(model)
	params.StreamOptions.IncludeUsage = openai.Bool(true)
	chunks := client.Chat.Completions.NewStreaming(ctx, params)
	whole := openai.ChatCompletionAccumulator{}
	var pieces []string
	for chunks.Next() {
		chunk := chunks.Current()
		if !whole.AddChunk(chunk) {
			return fmt.Errorf("a chunk does not belong to the others: %s", chunk.RawJSON())
		}
		if len(chunk.Choices) > 0 {
			pieces = append(pieces, chunk.Choices[0].Delta.Content)
		}
	}
	if chunks.Err() != nil {
		return chunks.Err()
	}
	return cells.CheckStream(pieces, whole.Usage.TotalTokens)
}

func tools(ctx context.Context, model string) error {
	params := asked(model)
	params.Temperature = openai.Float(0)
	params.Tools = []openai.ChatCompletionToolUnionParam{
		openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{Name: "add", Parameters: cells.Add}),
	}
	first, err := client.Chat.Completions.New(ctx, params)
	if err != nil {
		return err
	}
	message := first.Choices[0].Message
	params.Messages = append(params.Messages, message.ToParam())
	for _, call := range message.ToolCalls {
		result, err := cells.UseAdd(call.Function.Name, call.Function.Arguments)
		if err != nil {
			return err
		}
		params.Messages = append(params.Messages, openai.ToolMessage(result, call.ID))
	}
	second, err := client.Chat.Completions.New(ctx, params)
	if err != nil {
		return err
	}
	return cells.CheckText(second.Choices[0].Message.Content)
}

func structured(ctx context.Context, model string) error {
	params := asked(model)
	schema := shared.ResponseFormatJSONSchemaJSONSchemaParam{Name: "sum", Schema: cells.Sum, Strict: openai.Bool(true)}
	params.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{JSONSchema: schema}
	completion, err := client.Chat.Completions.New(ctx, params)
	if err != nil {
		return err
	}
	return cells.CheckSum(completion.Choices[0].Message.Content)
}

func respond(ctx context.Context, model string) error {
	params := responses.ResponseNewParams{
		Model: model,
		Input: responses.ResponseNewParamsInputUnion{OfString: openai.String(cells.Question)},
	}
	events := client.Responses.NewStreaming(ctx, params)
	var pieces []string
	var last responses.Response
	for events.Next() {
		switch event := events.Current().AsAny().(type) {
		case responses.ResponseTextDeltaEvent:
			pieces = append(pieces, event.Delta)
		case responses.ResponseCompletedEvent:
			last = event.Response
		}
	}
	if events.Err() != nil {
		return events.Err()
	}
	if err := cells.CheckStream(pieces, last.Usage.TotalTokens); err != nil {
		return err
	}
	params.PreviousResponseID = openai.String(last.ID)
	params.Tools = []responses.ToolUnionParam{responses.ToolParamOfFunction("add", cells.Add, true)}
	params.ToolChoice.OfToolChoiceMode = openai.Opt(responses.ToolChoiceOptionsRequired)
	again, err := client.Responses.New(ctx, params)
	if err != nil {
		return err
	}
	for _, item := range again.Output {
		if call, ok := item.AsAny().(responses.ResponseFunctionToolCall); ok {
			_, err := cells.UseAdd(call.Name, call.Arguments)
			return err
		}
	}
	return fmt.Errorf("no call is in %s", again.RawJSON())
}

func embed(ctx context.Context, model string) error {
	input := openai.EmbeddingNewParamsInputUnion{OfArrayOfStrings: []string{"a cat", "an owl"}}
	made, err := client.Embeddings.New(ctx, openai.EmbeddingNewParams{Model: model, Input: input})
	if err != nil {
		return err
	}
	if len(made.Data) != 2 || len(made.Data[1].Embedding) != 128 {
		return fmt.Errorf("the embeddings are %s", made.RawJSON())
	}
	return nil
}

func complete(ctx context.Context, model string) error {
	params := openai.CompletionNewParams{
		Model:       openai.CompletionNewParamsModel(model),
		Prompt:      openai.CompletionNewParamsPromptUnion{OfString: openai.String(cells.Text)},
		Temperature: openai.Float(0),
	}
	completion, err := client.Completions.New(ctx, params)
	if err != nil {
		return err
	}
	return cells.CheckText(completion.Choices[0].Text)
}

func fail(ctx context.Context, _ string) error {
	_, err := client.Chat.Completions.New(ctx, asked(cells.Missing))
	return cells.CheckError(err, func(own *openai.Error) (int, string) { return own.StatusCode, own.Message })
}

func main() {
	cells.Run(
		cells.Cell{Way: "plain", Run: plain},
		cells.Cell{Way: "stream", Run: stream},
		cells.Cell{Way: "tools", Run: tools},
		cells.Cell{Way: "structured", Run: structured},
		cells.Cell{Way: "responses", Run: respond},
		cells.Cell{Way: "embeddings", Run: embed},
		cells.Cell{Way: "completions", Run: complete},
		cells.Cell{Way: "errors", Run: fail},
	)
}
