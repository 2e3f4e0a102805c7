// Package steps has what every program does: some questions within one span, which is exported with all below it.
package steps

import (
	"context"
	"fmt"
	"os"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/trace"
)

const (
	Conversation = "talk-1"
	User         = "user-1"
	Plain        = "What is plain?"
	Weather      = "What is the weather in Paris?"
	Stream       = "Please stream."
	Fail         = "Please fail."
	Sunny        = "It is sunny in Paris."
)

// Provider is the address of the provider of models.
var Provider = os.Getenv("PROVIDER_URL")

// Step is a question; the one that is to fail must, the others must not.
type Step struct {
	Name string
	Run  func(context.Context) error
}

// Must ends the program at an error.
func Must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// Open sets the global provider of OpenTelemetry's SDK.
func Open(ctx context.Context) *trace.TracerProvider {
	provider := trace.NewTracerProvider(trace.WithBatcher(Must(otlptracehttp.New(ctx))))
	otel.SetTracerProvider(provider)
	return provider
}

// Run runs the steps below a span of their own, then closes the provider and ends the program.
func Run(ctx context.Context, provider *trace.TracerProvider, all ...Step) {
	code := 0
	inside, span := provider.Tracer("program").Start(ctx, "program")
	for _, step := range all {
		err := step.Run(inside)
		if (err != nil) != (step.Name == "fail") {
			fmt.Println(step.Name, err)
			code = 1
		}
	}
	span.End()
	if err := provider.Shutdown(ctx); err != nil {
		panic(err)
	}
	os.Exit(code)
}
