import { ServiceError } from '../../domain/errors.ts'
import { shown } from '../../domain/malformed.ts'

/** Most characters of a redirect target. */
export const REDIRECT_URL_LENGTH_MAX = 2_048

const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
// Checked on the raw text, before any URL parser: parsers repair what an attacker wrote (`https:/\host`, a full-width dot, `%2e`) into
// something other than what was compared.
const SHAPE = new RegExp(
  String.raw`^(https?)://((?:${LABEL})(?:\.${LABEL})*|\[[0-9a-f:]{2,39}\])(?::([1-9]\d{0,4}))?(?:/[\x21-\x7e]*)?(?:\?[\x21-\x7e]*)?$`
)
const FORBIDDEN = /[\\#\s\p{Cc}]/u
const ENCODED_CONTROL = /%(?:[01][0-9a-f]|7f)/i
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/

/**
 * Checks a redirect target that will be sent to a browser unchanged. It must be absolute `https` (or `http` for loopback hosts), with its
 * host in normal form, without credentials, fragment, backslash or control characters, encoded ones included. If the platform has a list of
 * allowed targets, it must equal one of them exactly.
 * @throws ServiceError field_invalid naming `field`.
 */
export function checkRedirectUrl(raw: string, allowList: readonly string[], field = 'redirect_url'): string {
  const complaint = complaintAbout(raw)
  if (complaint !== null) throw refused(field, `must ${complaint}, was ${shown(raw)}`)
  if (allowList.length > 0 && !allowList.includes(raw)) {
    throw refused(field, 'must be one of the platform’s registered redirect addresses, character for character')
  }
  return raw
}

function complaintAbout(raw: string): string | null {
  if (raw.length > REDIRECT_URL_LENGTH_MAX) return `have at most ${REDIRECT_URL_LENGTH_MAX} characters`
  if (FORBIDDEN.test(raw) || ENCODED_CONTROL.test(raw)) return 'have no space, control character, backslash or fragment'
  const [, scheme, host] = SHAPE.exec(raw) ?? []
  if (scheme === undefined || host === undefined || !isNormal(raw, host)) {
    return 'be an absolute https address with a plain lower-case host, such as https://app.example.com/linked'
  }
  if (scheme === 'http' && !LOOPBACK.test(host)) return 'use https; plain http is for loopback hosts only'
  return null
}

// A host that the parser would rewrite (0x7f.1, 2130706433, a port over 65535) is not the host that it looks like.
function isNormal(raw: string, host: string): boolean {
  return URL.canParse(raw) && new URL(raw).hostname === host
}

function refused(field: string, message: string): ServiceError {
  return new ServiceError('field_invalid', `${field} ${message}.`, { details: [{ path: field, message }] })
}
