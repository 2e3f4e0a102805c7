/** Builds `multipart/form-data` bodies for upstreams. Pure. */
import type { FormPart } from '../backend.ts'

const LINE = '\r\n'

/**
 * Returns the bytes of a form, with the upstream's name for the model.
 *
 * @param boundary - must not occur in any part
 */
export function renderForm(
  parts: readonly FormPart[],
  model: string,
  boundary: string,
): Uint8Array {
  const others = parts.filter(({ name }) => name !== 'model')
  const pieces = [{ name: 'model', value: model }, ...others].flatMap((part) => [
    Buffer.from(`--${boundary}${LINE}${renderHead(part)}${LINE}${LINE}`),
    'bytes' in part ? part.bytes : Buffer.from(part.value),
    Buffer.from(LINE),
  ])
  return Buffer.concat([...pieces, Buffer.from(`--${boundary}--${LINE}`)])
}

function renderHead(part: FormPart): string {
  const head = `content-disposition: form-data; name="${quote(part.name)}"`
  if (!('bytes' in part)) return head
  const file = `${head}; filename="${quote(part.filename)}"`
  return `${file}${LINE}content-type: ${part.contentType}`
}

/** Escapes names as browsers do. */
function quote(name: string): string {
  return name.toWellFormed().replaceAll('\r', '%0D').replaceAll('\n', '%0A').replaceAll('"', '%22')
}
