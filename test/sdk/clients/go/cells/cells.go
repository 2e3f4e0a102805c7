// Package cells has the cells of one client: each way of asking, on each model. It prints a JSON line for each of them.
package cells

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
)

const (
	Question = "What is 3 plus 4?"
	// Text is one that the model goes on with.
	Text = "user\n" + Question + "\nassistant\n"
	// Missing is a model that no server has.
	Missing        = "missing"
	reasonCharsMax = 300
)

var (
	// BaseURL ends with /v1.
	BaseURL = os.Getenv("OPENAI_BASE_URL")
	// Root is the address without it.
	Root = strings.TrimSuffix(BaseURL, "/v1")
	Key  = os.Getenv("OPENAI_API_KEY")
)

// Add is the schema of a function that adds two numbers.
var Add = map[string]any{
	"type":                 "object",
	"properties":           map[string]any{"a": map[string]any{"type": "integer"}, "b": map[string]any{"type": "integer"}},
	"required":             []string{"a", "b"},
	"additionalProperties": false,
}

// Sum is the schema of an object with a result.
var Sum = map[string]any{
	"type":                 "object",
	"properties":           map[string]any{"result": map[string]any{"type": "integer"}},
	"required":             []string{"result"},
	"additionalProperties": false,
}

// Cell returns an error when what came is not right.
type Cell struct {
	Way string
	Run func(ctx context.Context, model string) error
}

// CheckText wants a text that is not blank.
func CheckText(text string) error {
	if strings.TrimSpace(text) == "" {
		return fmt.Errorf("no text came: %q", text)
	}
	return nil
}

// CheckStream wants text in several pieces, and the tokens of the usage.
func CheckStream(pieces []string, tokens int64) error {
	count := 0
	for _, piece := range pieces {
		if piece != "" {
			count++
		}
	}
	if count < 2 || tokens <= 0 {
		return fmt.Errorf("the text came in %d piece with %d tokens", count, tokens)
	}
	return CheckText(strings.Join(pieces, ""))
}

// UseAdd wants a call of the function with two integers, and returns the result.
func UseAdd(name, arguments string) (string, error) {
	var numbers struct{ A, B *int }
	if err := json.Unmarshal([]byte(arguments), &numbers); err != nil || numbers.A == nil || numbers.B == nil || name != "add" {
		return "", fmt.Errorf("%s was called with %s: %w", name, arguments, err)
	}
	return fmt.Sprint(*numbers.A + *numbers.B), nil
}

// CheckSum wants an object of the schema.
func CheckSum(text string) error {
	var sum struct{ Result *int }
	if err := json.Unmarshal([]byte(text), &sum); err != nil || sum.Result == nil {
		return fmt.Errorf("the object is %q: %w", text, err)
	}
	return nil
}

// CheckError wants an error of the client's own type with what a missing model is answered with.
func CheckError[T error](err error, read func(T) (status int, message string)) error {
	var own T
	if !errors.As(err, &own) {
		return fmt.Errorf("the error is %T: %w", err, err)
	}
	if status, message := read(own); status != 404 || !strings.Contains(message, Missing) {
		return fmt.Errorf("the error has status %d and message %q", status, message)
	}
	return nil
}

// Run runs each cell on each model.
func Run(all ...Cell) {
	for _, model := range strings.Fields(os.Getenv("MODELS")) {
		for _, cell := range all {
			line, _ := json.Marshal(map[string]string{"model": model, "way": cell.Way, "outcome": outcomeOf(cell, model)})
			fmt.Printf("cell:%s\n", line)
		}
	}
}

func outcomeOf(cell Cell, model string) (outcome string) {
	defer func() {
		if fault := recover(); fault != nil {
			outcome = fmt.Sprintf("fails: %v", fault)
		}
	}()
	if err := cell.Run(context.Background(), model); err != nil {
		text := strings.Join(strings.Fields(err.Error()), " ")
		return "fails: " + text[:min(len(text), reasonCharsMax)]
	}
	return "ok"
}
