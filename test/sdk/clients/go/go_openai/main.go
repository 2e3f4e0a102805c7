// go-openai, the client that was there before OpenAI's own.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"clients/cells"

	"github.com/sashabaranov/go-openai"
	"github.com/sashabaranov/go-openai/jsonschema"
)

var client = open()

func open() *openai.Client {
	config := openai.DefaultConfig(cells.Key)
	config.BaseURL = cells.BaseURL
	return openai.NewClientWithConfig(config)
}

func asked(model string) openai.ChatCompletionRequest {
	messages := []openai.ChatCompletionMessage{{Role: openai.ChatMessageRoleUser, Content: cells.Question}}
	return openai.ChatCompletionRequest{Model: model, Messages: messages}
}

func plain(ctx context.Context, model string) error {
	completion, err := client.CreateChatCompletion(ctx, asked(model))
	if err != nil {
		return err
	}
	return cells.CheckText(completion.Choices[0].Message.Content)
}

func stream(ctx context.Context, model string) error {
	request := asked(model)
	request.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
	chunks, err := client.CreateChatCompletionStream(ctx, request)
	if err != nil {
		return err
	}
	defer chunks.Close()
	var pieces []string
	tokens := 0
	for {
		chunk, err := chunks.Recv()
		if errors.Is(err, io.EOF) {
			return cells.CheckStream(pieces, int64(tokens))
		}
		if err != nil {
			return err
		}
		if chunk.Usage != nil {
			tokens = chunk.Usage.TotalTokens
		}
		if len(chunk.Choices) > 0 {
			pieces = append(pieces, chunk.Choices[0].Delta.Content)
		}
	}
}

func tools(ctx context.Context, model string) error {
	request := asked(model)
	request.Tools = []openai.Tool{{
		Type:     openai.ToolTypeFunction,
		Function: &openai.FunctionDefinition{Name: "add", Parameters: cells.Add},
	}}
	first, err := client.CreateChatCompletion(ctx, request)
	if err != nil {
		return err
	}
	message := first.Choices[0].Message
	request.Messages = append(request.Messages, message)
	if len(message.ToolCalls) == 0 {
		return fmt.Errorf("no call is in %+v", message)
	}
	for _, call := range message.ToolCalls {
		result, err := cells.UseAdd(call.Function.Name, call.Function.Arguments)
		if err != nil {
			return err
		}
		answer := openai.ChatCompletionMessage{Role: openai.ChatMessageRoleTool, Content: result, ToolCallID: call.ID}
		request.Messages = append(request.Messages, answer)
	}
	second, err := client.CreateChatCompletion(ctx, request)
	if err != nil {
		return err
	}
	return cells.CheckText(second.Choices[0].Message.Content)
}

func structured(ctx context.Context, model string) error {
	var sum struct {
		Result int `json:"result"`
	}
	schema, err := jsonschema.GenerateSchemaForType(sum)
	if err != nil {
		return err
	}
	request := asked(model)
	request.ResponseFormat = &openai.ChatCompletionResponseFormat{
		Type:       openai.ChatCompletionResponseFormatTypeJSONSchema,
		JSONSchema: &openai.ChatCompletionResponseFormatJSONSchema{Name: "sum", Schema: schema, Strict: true},
	}
	completion, err := client.CreateChatCompletion(ctx, request)
	if err != nil {
		return err
	}
	return schema.Unmarshal(completion.Choices[0].Message.Content, &sum)
}

func respond(ctx context.Context, model string) error {
	response, err := client.CreateResponse(ctx, openai.CreateResponseRequest{Model: model, Input: cells.Question})
	if err != nil {
		return err
	}
	return cells.CheckText(response.GetOutputText())
}

func embed(ctx context.Context, model string) error {
	request := openai.EmbeddingRequestStrings{Model: openai.EmbeddingModel(model), Input: []string{"a cat", "an owl"}}
	made, err := client.CreateEmbeddings(ctx, request)
	if err != nil {
		return err
	}
	if len(made.Data) != 2 || len(made.Data[1].Embedding) != 128 {
		return fmt.Errorf("there are %d embeddings", len(made.Data))
	}
	return nil
}

func complete(ctx context.Context, model string) error {
	completion, err := client.CreateCompletion(ctx, openai.CompletionRequest{Model: model, Prompt: cells.Text})
	if err != nil {
		return err
	}
	return cells.CheckText(completion.Choices[0].Text)
}

func fail(ctx context.Context, _ string) error {
	_, err := client.CreateChatCompletion(ctx, asked(cells.Missing))
	return cells.CheckError(err, func(own *openai.APIError) (int, string) { return own.HTTPStatusCode, own.Message })
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
