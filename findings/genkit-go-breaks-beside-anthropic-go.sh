#!/bin/sh
# github.com/firebase/genkit/go@1.4.0 and github.com/anthropics/anthropic-sdk-go/v2@2.15.0, both the newest, in one Go module.
#
# Each compiles in a module of its own; together they should, too, as no major version of a module is there twice. They do
# not: Anthropic's client asks for github.com/invopop/jsonschema 0.14, which Go then takes for both. That release has
# changed the type of a field from one package of ordered maps to another, and Genkit's dotprompt sets the old one.
#
# Output seen: cannot use orderedmap.New
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat > main.go <<'GO'
package main

import (
	_ "github.com/anthropics/anthropic-sdk-go/v2"
	_ "github.com/firebase/genkit/go/genkit"
)

func main() {}
GO
go mod init together 2> /dev/null
for pin in github.com/firebase/genkit/go@1.4.0 github.com/anthropics/anthropic-sdk-go/v2@2.15.0; do
  pins="${pins:-} ${pin%@*}@v${pin##*@}"
done
go get $pins 2> /dev/null
go mod tidy 2> /dev/null
seen=$(go build . 2>&1 | grep -o -m 1 'cannot use orderedmap.New' || true)
echo "$seen"
[ "$seen" = 'cannot use orderedmap.New' ]
grep -q 'invopop/jsonschema v0.14.0' go.mod
