// Removes secrets from texts. A safety net under the rule that they are never logged: by name, by value, and by form.

const TEXT_MAX = 1_000
const SCANNED_MAX = 8_000
const VALUE_LENGTH_MIN = 6
const REDACTED = '[redacted]'

/** Names, in lower case without separators, whose values are secret, and parts of such names. */
const NAMES = new Set(['code', 'state', 'pass', 'pin', 'otp', 'jwt', 'auth', 'pwd', 'body', 'headers', 'dek', 'kek', 'sealed'])
const NAME_PARTS =
  /secret|password|passwd|passphrase|token|authorization|cookie|credential|verifier|apikey|privatekey|masterkey|accesskey|sessionkey|databaseurl|signature|bearer/

/** A field in any of these spellings: `client-secret`, `clientSecret`, `CLIENT_SECRET`. */
export function isSecretName(name: string, more: ReadonlySet<string>): boolean {
  const plain = plainName(name)
  return NAMES.has(plain) || NAME_PARTS.test(plain) || more.has(plain)
}

export function plainName(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9]/g, '').toLowerCase()
}

const QUERY_NAMES = '[\\w-]*(?:code|state|token|secret|password|key|signature|sig|assertion|verifier|session)'
const NAMES_IN_TEXT = '[\\w-]*(?:secret|password|passwd|token|api[_-]?key|private[_-]?key|cookie|authorization|verifier)'
/** Forms of secrets anywhere in a text. Each expression is linear in the text's length. */
const SHAPES: readonly RegExp[] = [
  // Our own.
  /(?<![A-Za-z0-9])(?:sk|us|mdt|oc|os|ok|whsec)_[\w-]{16,}/g,
  /(?<=\/connect\/)[\w-]{16,}/g,
  // HTTP and OAuth.
  /(?<=\b(?:Bearer|Basic|Digest)\s{1,4})[\w.~+/=:-]{4,}/gi,
  /\beyJ[\w-]{8,}\.[\w-]{4,}(?:\.[\w-]*)?/g,
  new RegExp(`(?<=[?&;]${QUERY_NAMES}=)[^&;#\\s"'<>]+`, 'gi'),
  /(?<=:\/\/[^\s:/@]{0,256}:)[^\s/]+(?=@)/g,
  // Bodies and settings quoted in messages.
  new RegExp(`(?<=(?<![\\w-])${NAMES_IN_TEXT}["']?\\s{0,4}[:=]\\s{0,4}["']?)[^\\s"',;&}]{4,}`, 'gi'),
  // Thirty-two bytes in base64, and long opaque tokens: mixed case with digits.
  /(?<![\w+/-])[A-Za-z0-9+/_-]{43}=/g,
  /(?<![\w-])(?=[\w-]*[a-z])(?=[\w-]*[A-Z])(?=[\w-]*\d)[\w-]{43,}/g
]
/** Characters that a terminal or a reader would misinterpret. JSON escapes those below the space itself. */
const DECEPTIVE = /[\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g

export class SecretCutter {
  readonly #values: RegExp | null

  /** @param values secrets to cut out wherever they appear; those too short to be distinguished from words are left. */
  constructor(values: readonly string[]) {
    const forms = values.flatMap(value => [value, encodeURIComponent(value)]).filter(({ length }) => length >= VALUE_LENGTH_MIN)
    const longestFirst = [...new Set(forms)].sort((a, b) => b.length - a.length)
    this.#values = longestFirst.length === 0 ? null : new RegExp(longestFirst.map(RegExp.escape).join('|'), 'g')
  }

  /** At most about a thousand characters; secrets are removed before the text is cut, so that no half of one remains. */
  cut(text: string): string {
    let cut = text.length > SCANNED_MAX ? `${text.slice(0, endOfWord(text))}…` : text
    if (this.#values !== null) cut = cut.replace(this.#values, REDACTED)
    for (const shape of SHAPES) cut = cut.replace(shape, REDACTED)
    if (cut.length > TEXT_MAX) cut = `${cut.slice(0, TEXT_MAX)}… [${text.length} characters]`
    return cut.replace(DECEPTIVE, character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
  }
}

/** The end of the last whole word within the scanned text: half of a secret does not look like one. */
function endOfWord(text: string): number {
  let end = SCANNED_MAX
  while (end > SCANNED_MAX / 2 && text.charCodeAt(end) > 0x20) end -= 1
  return end
}

const plain = new SecretCutter([])

/** Removes what looks like a secret, escapes misleading characters, and limits the length: fit for a log, a page or a terminal. */
export function withoutSecrets(text: string): string {
  return plain.cut(text)
}
