import type { Log, LogFields } from '@trunkline/core/ports/log'
import { type DestinationStream, type Logger, pino } from 'pino'
import { SECRET_NAMES } from '../config/settings.ts'
import { isSecretName, plainName, SecretCutter } from './redact.ts'

const DEPTH_MAX = 6
const ITEMS_MAX = 50
const CAUSES_MAX = 4
const FRAMES_MAX = 5
const REDACTED = '[redacted]'
const UNREADABLE = '[unreadable]'
/** Values in one line. */
const VALUES_MAX = 500
/** Names that the line itself uses; a field must not replace them. */
const OWN_NAMES = new Set(['level', 'time', 'msg', '__proto__'])
const SETTING_NAMES = new Set(SECRET_NAMES.map(plainName))

/**
 * A log of JSON lines. Values are bounded in depth, items and length; values under secret names, and text that looks like a secret, are
 * removed; control characters are escaped. Errors are written as name, message, code and causes.
 */
export class PinoLog implements Log {
  readonly #pino: Logger
  readonly #cutter: SecretCutter
  #valuesLeft = 0

  /** @param secretValues texts that must not appear in any line: the values of secret settings. */
  constructor(level: string, destination?: DestinationStream, secretValues: readonly string[] = []) {
    const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime }
    this.#pino = destination === undefined ? pino(options) : pino(options, destination)
    this.#cutter = new SecretCutter(secretValues)
  }

  debug(message: string, fields?: LogFields): void {
    if (this.#pino.isLevelEnabled('debug')) this.#pino.debug(this.#clean(fields), this.#cutter.cut(message))
  }

  info(message: string, fields?: LogFields): void {
    if (this.#pino.isLevelEnabled('info')) this.#pino.info(this.#clean(fields), this.#cutter.cut(message))
  }

  warn(message: string, fields?: LogFields): void {
    this.#pino.warn(this.#clean(fields), this.#cutter.cut(message))
  }

  error(message: string, fields?: LogFields): void {
    this.#pino.error(this.#clean(fields), this.#cutter.cut(message))
  }

  #clean(fields: LogFields | undefined): LogFields {
    this.#valuesLeft = VALUES_MAX
    return fields === undefined ? {} : this.#object(fields, DEPTH_MAX)
  }

  #value(value: unknown, depth: number): unknown {
    this.#valuesLeft -= 1
    if (this.#valuesLeft < 0) return '[more]'
    switch (typeof value) {
      case 'string':
        return this.#cutter.cut(value)
      case 'bigint':
        return String(value)
      case 'object':
        return value === null ? null : this.#structure(value, depth)
      case 'symbol':
      case 'function':
        return `[${typeof value}]`
      default:
        return value
    }
  }

  #structure(value: object, depth: number): unknown {
    if (value instanceof Error) return this.#error(value, Math.min(depth, CAUSES_MAX))
    // Bytes are unreadable, and may be anything.
    if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`
    if (depth === 0) return '[deeper]'
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? UNREADABLE : value.toISOString()
    if (value instanceof URL) return this.#cutter.cut(value.href)
    if (value instanceof Map || value instanceof Set) return `[${value.size} entries]`
    if (Array.isArray(value)) return this.#list(value, depth)
    return this.#object(value, depth)
  }

  #list(values: readonly unknown[], depth: number): readonly unknown[] {
    const shown = values.slice(0, ITEMS_MAX).map(value => this.#value(value, depth - 1))
    return values.length > ITEMS_MAX ? [...shown, `[${values.length - ITEMS_MAX} more]`] : shown
  }

  #object(value: object, depth: number): Record<string, unknown> {
    const cleaned: Record<string, unknown> = {}
    for (const name of Object.keys(value).slice(0, ITEMS_MAX)) {
      const label = this.#cutter.cut(name)
      cleaned[OWN_NAMES.has(label) ? `field_${label}` : label] = this.#field(value, name, depth)
    }
    return cleaned
  }

  /** Reading a value can fail; a log line must not. */
  #field(owner: object, name: string, depth: number): unknown {
    try {
      const value: unknown = Reflect.get(owner, name)
      const isHidden = isSecretName(name, SETTING_NAMES) && value !== null && value !== undefined && typeof value !== 'boolean'
      return isHidden ? REDACTED : this.#value(value, depth - 1)
    } catch {
      return UNREADABLE
    }
  }

  #error(error: Error, causesLeft: number): LogFields {
    const code = 'code' in error && typeof error.code === 'string' ? { errorCode: this.#cutter.cut(error.code) } : {}
    const inner = (cause: unknown) => (cause instanceof Error ? this.#error(cause, causesLeft - 1) : this.#value(cause, 2))
    const deeper = error.cause === undefined || causesLeft === 0 ? {} : { cause: inner(error.cause) }
    const several = error instanceof AggregateError && causesLeft > 0 ? { errors: error.errors.slice(0, CAUSES_MAX).map(inner) } : {}
    // Frames only: the beginning of a stack repeats the message, which may have several lines.
    const stack = String(error.stack ?? '')
      .split('\n')
      .filter(line => /^\s+at /.test(line))
      .slice(0, FRAMES_MAX)
      .map(frame => this.#cutter.cut(frame.trim()))
    return {
      name: this.#cutter.cut(String(error.name)),
      message: this.#cutter.cut(String(error.message)),
      ...code,
      stack,
      ...several,
      ...deeper
    }
  }
}
