import { isUtf8 } from 'node:buffer'
import { ServiceError } from '@trunkline/core/domain/errors'
import { JSON_DEPTH_MAX } from '@trunkline/core/domain/json'
import { shown } from '@trunkline/core/domain/malformed'

/** Largest request body, in bytes. */
export const BODY_BYTES_MAX = 256 * 1024
/** Values that a body may have: every request takes far fewer, and validating many unknown fields would occupy the process. */
export const VALUES_MAX = 1_000
/** How deep arrays and objects may nest. */
export const DEPTH_MAX = JSON_DEPTH_MAX

/**
 * Parses a JSON body strictly: valid UTF-8, no duplicate key in an object, no `__proto__`, no NUL or lone surrogate in any string, at most
 * {@link DEPTH_MAX} levels and {@link VALUES_MAX} values. An empty body is `undefined`.
 * @throws ServiceError body_malformed or field_invalid.
 */
export function readJson(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined
  if (!isUtf8(bytes)) throw malformed('The body is not valid UTF-8.')
  const text = bytes.toString('utf8')
  const value = parsed(text)
  checkStructure(text)
  // NUL and lone surrogates cannot stand in valid UTF-8 JSON text; only an escape can produce them.
  if (text.includes('\\u')) checkTexts(value, '')
  return value
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw malformed('The body is not valid JSON.', cause)
  }
}

const QUOTE = 0x22
const BACKSLASH = 0x5c

// One pass over text that JSON.parse has accepted, so there are no syntax errors. JSON.parse silently keeps the last of two duplicate keys.
// Another parser may keep the first, and read a different order from the same body.
function checkStructure(text: string): void {
  const keys: (Set<string> | null)[] = []
  let values = 1
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 0x7b: // {
        keys.push(new Set())
        values++
        break
      case 0x5b: // [
        keys.push(null)
        values++
        break
      case 0x2c: // ,
        values++
        break
      case 0x7d:
      case 0x5d:
        keys.pop()
        continue
      case QUOTE: {
        const end = endOfString(text, at)
        if (keys.length > 0 && isKey(text, end)) checkKey(keys.at(-1), text.slice(at, end + 1))
        at = end
        continue
      }
      default:
        continue
    }
    if (values > VALUES_MAX) throw malformed(`The body has more than ${VALUES_MAX} values.`)
    if (keys.length > DEPTH_MAX) throw malformed(`The body nests deeper than ${DEPTH_MAX} levels.`)
  }
}

function endOfString(text: string, start: number): number {
  let at = start + 1
  while (text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1
  return at
}

function isKey(text: string, end: number): boolean {
  let at = end + 1
  while (text.charCodeAt(at) <= 0x20) at++
  return text[at] === ':'
}

function checkKey(known: Set<string> | null | undefined, quoted: string): void {
  const key: string = quoted.includes('\\') ? JSON.parse(quoted) : quoted.slice(1, -1)
  if (key === '__proto__') throw invalid(key, 'is never a valid field')
  if (known?.has(key)) throw invalid(key.slice(0, 64), `is given twice: ${shown(key)} must appear once`)
  known?.add(key)
}

function checkTexts(value: unknown, path: string): void {
  if (typeof value === 'string') {
    if (!value.isWellFormed() || value.includes('\u0000')) throw invalid(path, 'must be valid Unicode without NUL')
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, inner] of Object.entries(value)) {
      checkTexts(key, path)
      checkTexts(inner, path === '' ? key : `${path}.${key}`)
    }
  }
}

function malformed(message: string, cause?: unknown): ServiceError {
  return new ServiceError('body_malformed', message, { cause })
}

function invalid(path: string, message: string): ServiceError {
  return new ServiceError('field_invalid', `${path === '' ? 'The body' : path} ${message}.`, { details: [{ path, message }] })
}
