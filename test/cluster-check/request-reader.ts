// Cuts what HTTP clients send into requests.
const HEAD_END = '\r\n\r\n'
const BODY_MAX = 64 * 1024

/** A request that may change an order at a broker. */
export interface Command {
  /** Its method and path. */
  readonly line: string
  /** What it was authorized with; null if with nothing. */
  readonly token: string | null
  /** Of a new order. A change may name what is left of one. */
  readonly quantity: number | null
}

/** By connection. What is no HTTP/1.1 with a length is left alone. */
export class CommandReader {
  readonly #rest = new WeakMap<object, string | null>()
  readonly #onCommand: (command: Command) => void

  constructor(onCommand: (command: Command) => void) {
    this.#onCommand = onCommand
  }

  push(link: object, chunk: Buffer): void {
    const known = this.#rest.get(link)
    // It is no HTTP any more.
    if (known === null) return
    let rest: string | null = (known ?? '') + chunk.toString('latin1')
    while (rest !== null) {
      const end = rest.indexOf(HEAD_END)
      if (end < 0) break
      const head = rest.slice(0, end)
      if (/\r\nupgrade:/i.test(head)) rest = null
      else {
        const bodyAt = end + HEAD_END.length
        const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0)
        if (rest.length < bodyAt + length) break
        const command = commandOf(head, rest.slice(bodyAt, bodyAt + length))
        if (command !== null) this.#onCommand(command)
        rest = rest.slice(bodyAt + length)
      }
    }
    this.#rest.set(link, rest !== null && rest.length > BODY_MAX ? null : rest)
  }
}

function commandOf(head: string, body: string): Command | null {
  const line = /^(?:POST|PUT|PATCH|DELETE) \S*orders\S*/i.exec(head)?.[0] ?? null
  if (line === null || /preview|confirm/i.test(line)) return null
  const isNew = /^POST \S*orders$/i.test(line)
  const quantity = /(?:"(?:quantity|qty)":"|(?:^|&)quantity=)(\d+)/i.exec(body)?.[1]
  return {
    line,
    token: /\r\nauthorization: *([^\r]+)/i.exec(head)?.[1] ?? null,
    quantity: quantity === undefined || !isNew ? null : Number(quantity)
  }
}
