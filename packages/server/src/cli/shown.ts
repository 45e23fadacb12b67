import { withoutSecrets } from '../ops/redact.ts'

/** Makes text from outside safe for a terminal: secrets are removed and control characters escaped. */
export function shown(text: string): string {
  return withoutSecrets(text).replaceAll(
    /[\p{Cc}\p{Cf}]/gu,
    character => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`
  )
}
