import type { Log, LogFields } from '@trunkline/core/ports/log'
import { withoutSecrets } from '../ops/redact.ts'
import type { Console } from './console.ts'

/** Writes warnings and errors to an operator's terminal, and drops the rest. */
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
