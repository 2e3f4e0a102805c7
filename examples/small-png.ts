/** Makes a screenshot small: a PNG of a palette of 128 colours, which is enough for tables and charts. */
import { crc32, deflateSync, inflateSync } from 'node:zlib'

const SIGNATURE_BYTES = 8
const HEAD_BYTES = 8
const CRC_BYTES = 4
const COLORS_MAX = 128
/** Square of the distance within which two colours look alike. */
const ALIKE = 12 ** 2
/** Bytes of a pixel by the colour type of the file: RGB and RGBA, 8 bits each. */
const PIXEL_BYTES: Readonly<Record<number, number>> = { 2: 3, 6: 4 }

interface Pixels {
  readonly width: number
  readonly height: number
  /** 0xRRGGBB, row by row. */
  readonly colors: Uint32Array
}

/** @param png - of 8 bits a channel and not interlaced, as browsers make it; what is see-through is taken as it is */
export function toSmallPng(png: Buffer): Buffer {
  const { width, height, colors } = readPixels(png)
  const palette = choosePalette(colors)
  const places = new Map(palette.map((color, place) => [color, place]))
  const rows = Buffer.alloc((width + 1) * height)
  for (let at = 0; at < colors.length; at++) {
    const color = colors[at] ?? 0
    let place = places.get(color)
    if (place === undefined) {
      place = nearest(palette, color)
      places.set(color, place)
    }
    rows[Math.floor(at / width) * (width + 1) + 1 + (at % width)] = place
  }
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width, 0)
  head.writeUInt32BE(height, 4)
  head.set([8, 3, 0, 0, 0], 8)
  const colorTable = Buffer.from(palette.flatMap((color) => channels(color)))
  return Buffer.concat([
    png.subarray(0, SIGNATURE_BYTES),
    chunk('IHDR', head),
    chunk('PLTE', colorTable),
    chunk('IDAT', deflateSync(rows, { level: 9, memLevel: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function readPixels(png: Buffer): Pixels {
  const parts: Buffer[] = []
  let head: Buffer = Buffer.alloc(0)
  for (let at = SIGNATURE_BYTES; at < png.length; ) {
    const length = png.readUInt32BE(at)
    const type = png.toString('latin1', at + 4, at + HEAD_BYTES)
    const data = png.subarray(at + HEAD_BYTES, at + HEAD_BYTES + length)
    if (type === 'IHDR') head = data
    if (type === 'IDAT') parts.push(data)
    at += HEAD_BYTES + length + CRC_BYTES
  }
  const [width, height] = [head.readUInt32BE(0), head.readUInt32BE(4)]
  const pixelBytes = PIXEL_BYTES[head[9] ?? -1]
  if (head[8] !== 8 || pixelBytes === undefined || head[12] !== 0)
    throw new Error('this kind of PNG is not read')
  const bytes = unfilter(inflateSync(Buffer.concat(parts)), width * pixelBytes, pixelBytes)
  const colors = new Uint32Array(width * height)
  for (let at = 0; at < colors.length; at++) colors[at] = bytes.readUIntBE(at * pixelBytes, 3)
  return { width, height, colors }
}

/** Takes the differences to neighbours back. @param lineBytes - of a row without its filter */
function unfilter(lines: Buffer, lineBytes: number, pixelBytes: number): Buffer {
  const bytes = Buffer.alloc((lines.length / (lineBytes + 1)) * lineBytes)
  for (let from = 0, to = 0; from < lines.length; from += lineBytes + 1, to += lineBytes) {
    const filter = lines[from]
    for (let at = 0; at < lineBytes; at++) {
      const left = at < pixelBytes ? 0 : (bytes[to + at - pixelBytes] ?? 0)
      const up = bytes[to + at - lineBytes] ?? 0
      const corner = at < pixelBytes ? 0 : (bytes[to + at - lineBytes - pixelBytes] ?? 0)
      const guesses = [0, left, up, (left + up) >> 1, paeth(left, up, corner)]
      bytes[to + at] = (lines[from + 1 + at] ?? 0) + (guesses[filter ?? 0] ?? 0)
    }
  }
  return bytes
}

function paeth(left: number, up: number, corner: number): number {
  const guess = left + up - corner
  const [toLeft, toUp, toCorner] = [left, up, corner].map((value) => Math.abs(guess - value)) as [
    ...[number, number, number],
  ]
  if (toLeft <= toUp && toLeft <= toCorner) return left
  return toUp <= toCorner ? up : corner
}

/** The colours that most pixels have; of those that look alike one, so that greys of letters leave room for the others. */
function choosePalette(colors: Uint32Array): number[] {
  const counts = new Map<number, number>()
  for (const color of colors) counts.set(color, (counts.get(color) ?? 0) + 1)
  const ordered = [...counts].sort(([, a], [, b]) => b - a)
  const palette: number[] = []
  for (const [color] of ordered) {
    if (palette.length === COLORS_MAX) break
    if (palette.every((other) => distanceOf(color, other) > ALIKE)) palette.push(color)
  }
  return palette
}

function nearest(palette: readonly number[], color: number): number {
  let best = 0
  let bestDistance = Number.POSITIVE_INFINITY
  for (const [place, other] of palette.entries()) {
    const distance = distanceOf(color, other)
    if (distance >= bestDistance) continue
    best = place
    bestDistance = distance
  }
  return best
}

/** The square of it. */
function distanceOf(left: number, right: number): number {
  const [red, green, blue] = channels(left)
  const [r, g, b] = channels(right)
  return (red - r) ** 2 + (green - g) ** 2 + (blue - b) ** 2
}

function channels(color: number): [number, number, number] {
  return [color >> 16, (color >> 8) & 0xff, color & 0xff]
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const length = Buffer.alloc(4)
  length.writeUInt32BE(data.length)
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(crc32(named))
  return Buffer.concat([length, named, sum])
}
