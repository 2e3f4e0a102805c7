// Google's client for Gemini: generations with calls of functions and schemas, and counts of tokens.
package main

import (
	"context"
	"encoding/json"
	"fmt"

	"clients/cells"

	"google.golang.org/genai"
)

var client = open()

func open() *genai.Client {
	options := genai.HTTPOptions{BaseURL: cells.Root}
	config := genai.ClientConfig{APIKey: cells.Key, Backend: genai.BackendGeminiAPI, HTTPOptions: options}
	made, err := genai.NewClient(context.Background(), &config)
	if err != nil {
		panic(err)
	}
	return made
}

func plain(ctx context.Context, model string) error {
	response, err := client.Models.GenerateContent(ctx, model, genai.Text(cells.Question), nil)
	if err != nil {
		return err
	}
	return cells.CheckText(response.Text())
}

func stream(ctx context.Context, model string) error {
	var pieces []string
	var last *genai.GenerateContentResponse
	for chunk, err := range client.Models.GenerateContentStream(ctx, model, genai.Text(cells.Question), nil) {
		if err != nil {
			return err
		}
		pieces = append(pieces, chunk.Text())
		last = chunk
	}
	if reason := last.Candidates[0].FinishReason; reason != genai.FinishReasonStop {
		return fmt.Errorf("it finished for %q", reason)
	}
	return cells.CheckStream(pieces, int64(last.UsageMetadata.TotalTokenCount))
}

func tools(ctx context.Context, model string) error {
	declared := &genai.FunctionDeclaration{Name: "add", Description: "Adds two numbers.", ParametersJsonSchema: cells.Add}
	config := &genai.GenerateContentConfig{Tools: []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{declared}}}}
	chat, err := client.Chats.Create(ctx, model, config, nil)
	if err != nil {
		return err
	}
	first, err := chat.SendMessage(ctx, genai.Part{Text: cells.Question})
	if err != nil {
		return err
	}
	var parts []genai.Part
	for _, call := range first.FunctionCalls() {
		arguments, _ := json.Marshal(call.Args)
		result, err := cells.UseAdd(call.Name, string(arguments))
		if err != nil {
			return err
		}
		response := genai.FunctionResponse{ID: call.ID, Name: call.Name, Response: map[string]any{"output": result}}
		parts = append(parts, genai.Part{FunctionResponse: &response})
	}
	second, err := chat.SendMessage(ctx, parts...)
	if err != nil {
		return err
	}
	return cells.CheckText(second.Text())
}

func structured(ctx context.Context, model string) error {
	schema := &genai.Schema{
		Type:       genai.TypeObject,
		Properties: map[string]*genai.Schema{"result": {Type: genai.TypeInteger}},
		Required:   []string{"result"},
	}
	config := &genai.GenerateContentConfig{ResponseMIMEType: "application/json", ResponseSchema: schema}
	response, err := client.Models.GenerateContent(ctx, model, genai.Text(cells.Question), config)
	if err != nil {
		return err
	}
	return cells.CheckSum(response.Text())
}

func count(ctx context.Context, model string) error {
	counted, err := client.Models.CountTokens(ctx, model, genai.Text(cells.Question), nil)
	if err == nil && counted.TotalTokens == 0 {
		err = fmt.Errorf("no tokens were counted")
	}
	return err
}

func fail(ctx context.Context, _ string) error {
	_, err := client.Models.GenerateContent(ctx, cells.Missing, genai.Text(cells.Question), nil)
	return cells.CheckError(err, func(own genai.APIError) (int, string) { return own.Code, own.Message })
}

func main() {
	cells.Run(
		cells.Cell{Way: "plain", Run: plain},
		cells.Cell{Way: "stream", Run: stream},
		cells.Cell{Way: "tools", Run: tools},
		cells.Cell{Way: "structured", Run: structured},
		cells.Cell{Way: "tokens", Run: count},
		cells.Cell{Way: "errors", Run: fail},
	)
}
