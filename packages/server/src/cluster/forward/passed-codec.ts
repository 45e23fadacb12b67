/** A request that is passed on, and its answer, as bytes: the length of the head (4 bytes), the head as lines, and the body. */
import { type OutgoingHttpHeaders, validateHeaderValue } from 'node:http'
import type { Allowance } from '../../auth/rate-limit.ts'
import type { NodeAnswer } from './node-client.ts'

export interface PassedRequest {
  readonly method: string
  /** Path and query. */
  readonly url: string
  readonly address: string
  readonly platformAllowance: Pick<Allowance, 'limit' | 'remaining' | 'resetSeconds'>
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

const LENGTH_BYTES = 4
/** Texts of HTTP have no line breaks, and names of headers no colon. */
const [LINE, COLON] = ['\n', ':']

export function encodeRequest({ method, url, address, platformAllowance, headers, body }: PassedRequest): Buffer {
  const { limit, remaining, resetSeconds } = platformAllowance
  const lines = [method, url, address, `${limit} ${remaining} ${resetSeconds}`]
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}${COLON}${value}`)
  return joined(lines, body)
}

/** @throws Error unless a request */
export function decodeRequest(bytes: Buffer): PassedRequest {
  const { lines, body } = parted(bytes)
  const [method, url, address, allowance, ...rest] = lines
  if (method === undefined || url === undefined || address === undefined || allowance === undefined) throw new Error('not a request')
  const [limit, remaining, resetSeconds] = allowance.split(' ').map(Number)
  if (limit === undefined || remaining === undefined || resetSeconds === undefined) throw new Error('not an allowance')
  const headers: Record<string, string> = {}
  for (const line of rest) {
    const at = line.indexOf(COLON)
    headers[line.slice(0, at)] = line.slice(at + 1)
  }
  return { method, url, address, platformAllowance: { limit, remaining, resetSeconds }, headers, body }
}

/** @throws Error if a header is none of HTTP */
export function encodeAnswer(status: number, headers: OutgoingHttpHeaders, body: readonly Buffer[]): Buffer {
  const lines = [String(status)]
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined) continue
    for (const one of Array.isArray(value) ? value : [String(value)]) {
      validateHeaderValue(name, one)
      lines.push(`${name}${COLON}${one}`)
    }
  }
  return joined(lines, ...body)
}

/** @throws Error unless an answer */
export function decodeAnswer(bytes: Buffer): NodeAnswer {
  const { lines, body } = parted(bytes)
  const [status = '', ...rest] = lines
  if (!/^[2-5]\d\d$/.test(status)) throw new Error('not a status')
  const headers: Record<string, string | string[]> = {}
  for (const line of rest) {
    const at = line.indexOf(COLON)
    const [name, value] = [line.slice(0, at).toLowerCase(), line.slice(at + 1)]
    const before = headers[name]
    headers[name] = before === undefined ? value : Array.isArray(before) ? [...before, value] : [before, value]
  }
  return { status: Number(status), headers, body }
}

function joined(lines: readonly string[], ...body: readonly Buffer[]): Buffer {
  // As HTTP/1.1 has them: a character is a byte.
  const head = Buffer.from(lines.join(LINE), 'latin1')
  const length = Buffer.allocUnsafe(LENGTH_BYTES)
  length.writeUInt32BE(head.length)
  return Buffer.concat([length, head, ...body])
}

function parted(bytes: Buffer): { readonly lines: readonly string[]; readonly body: Buffer } {
  const end = LENGTH_BYTES + bytes.readUInt32BE(0)
  if (end > bytes.length) throw new Error('a head is longer than its message')
  return { lines: bytes.toString('latin1', LENGTH_BYTES, end).split(LINE), body: bytes.subarray(end) }
}
