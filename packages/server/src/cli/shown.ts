import { withoutSecrets } from '../ops/redact.ts'

/** A text from outside as it can go to a terminal: without secrets, and with control characters spelled out. */
export function shown(text: string): string {
  return withoutSecrets(text).replaceAll(
    /[\p{Cc}\p{Cf}]/gu,
    character => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`
  )
}
