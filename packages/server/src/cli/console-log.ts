import type { Log, LogFields } from '@trunkline/core/ports/log'
import { withoutSecrets } from '../ops/redact.ts'
import type { Console } from './console.ts'

/** Warnings and errors for an operator at a terminal; the rest is of no use there. */
export class ConsoleLog implements Log {
  readonly #console: Console

  constructor(console: Console) {
    this.#console = console
  }

  debug(): void {}

  info(): void {}

  warn(message: string, fields: LogFields = {}): void {
    this.#write('warning', message, fields)
  }

  error(message: string, fields: LogFields = {}): void {
    this.#write('error', message, fields)
  }

  #write(level: string, message: string, fields: LogFields): void {
    const facts = Object.entries(fields).map(([name, value]) => `${name}: ${value instanceof Error ? value.message : String(value)}`)
    this.#console.err(`${level}: ${withoutSecrets(message)}${facts.length === 0 ? '' : ` (${withoutSecrets(facts.join(', '))})`}\n`)
  }
}
