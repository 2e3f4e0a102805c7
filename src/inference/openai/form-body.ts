/** Forms for upstreams: `multipart/form-data` out of parts. Pure. */
import type { FormPart } from '../backend.ts'

const LINE = '\r\n'

/**
 * The bytes of a form, with the upstream's name of the model.
 *
 * @param boundary - occurs in no part
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

/** As browsers write names. */
function quote(name: string): string {
  return name.toWellFormed().replaceAll('\r', '%0D').replaceAll('\n', '%0A').replaceAll('"', '%22')
}
