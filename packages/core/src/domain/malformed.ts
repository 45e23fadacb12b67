const SHOWN_MAX = 60

/** A value that is not what it must be. The message states what was expected and what was found, cut to length. */
export class Malformed extends Error {
  override readonly name = 'Malformed'
  readonly what: string
  readonly expected: string

  constructor(what: string, expected: string, found: unknown) {
    super(`${what} must be ${expected}, was ${shown(found)}`)
    this.what = what
    this.expected = expected
  }
}

/** A value for use in a message: quoted, on one line, at most a few dozen characters. */
export function shown(found: unknown): string {
  const text = found === undefined ? 'absent' : (safeJson(found) ?? typeof found)
  const length = typeof found === 'string' ? found.length : text.length
  return text.length <= SHOWN_MAX ? text : `${text.slice(0, SHOWN_MAX)}… (${length} characters)`
}

function safeJson(found: unknown): string | undefined {
  try {
    return JSON.stringify(found)
  } catch {
    return undefined
  }
}
