/** Programs that repeat the request of a call, or read the call. Pure. */
import { textOf } from '../api/exact-json.ts'

/** How a program is written. */
export type Language = 'curl' | 'Python' | 'JavaScript'
export const LANGUAGES: readonly Language[] = ['curl', 'Python', 'JavaScript']

export interface SampleRequest {
  /** Of the server, without a slash at the end. */
  readonly origin: string
  readonly path: string
  readonly body: unknown
}

/** Programs contain the environment variable `WEFT_KEY` instead of a key. */
export function sampleOf(language: Language, { origin, path, body }: SampleRequest): string {
  const url = `${origin}${path}`
  const isBearer = path.startsWith('/v1/')
  const json = textOf(body)
  if (language === 'curl') {
    const who = isBearer ? '-H "authorization: Bearer $WEFT_KEY"' : '-u "api:$WEFT_KEY"'
    const quoted = json.replaceAll("'", "'\\''")
    return `curl ${url} ${who} -H 'content-type: application/json' -d '${quoted}'`
  }
  if (language === 'Python')
    return [
      'import json, os, urllib.request, base64',
      '',
      `body = json.loads(${JSON.stringify(json)})`,
      'key = os.environ["WEFT_KEY"]',
      isBearer
        ? 'authorization = "Bearer " + key'
        : 'authorization = "Basic " + base64.b64encode(("api:" + key).encode()).decode()',
      'request = urllib.request.Request(',
      `    ${JSON.stringify(url)},`,
      '    data=json.dumps(body).encode(),',
      '    headers={"authorization": authorization, "content-type": "application/json"},',
      ')',
      'with urllib.request.urlopen(request) as response:',
      '    print(response.read().decode())',
    ].join('\n')
  const key = isBearer
    ? `\`Bearer \${env.WEFT_KEY}\``
    : `\`Basic \${btoa(\`api:\${env.WEFT_KEY}\`)}\``
  return [
    "import { env } from 'node:process'",
    '',
    `const response = await fetch(${JSON.stringify(url)}, {`,
    "  method: 'POST',",
    `  headers: { authorization: ${key}, 'content-type': 'application/json' },`,
    `  body: JSON.stringify(${json}),`,
    '})',
    'console.log(await response.text())',
  ].join('\n')
}

/** The inputs of a recorded completion as the request to repeat it. */
export function completionRequest(
  origin: string,
  inputs: Readonly<Record<string, unknown>>,
): SampleRequest {
  // The client object whose method was called, the prompt that the messages were made from, and how it was answered.
  const { self: _self, prompt: _prompt, stream: _, stream_options: _options, ...body } = inputs
  return { origin, path: '/v1/chat/completions', body }
}
