import { type OperatorGrant, parseOperatorScopes } from '@trunkline/core/domain/operator'
import { isLoopback } from './loopback.ts'
import { optionalText, type SettingFault, type Table, text } from './setting.ts'

const GRANTS_MAX = 200
const VALUE_LENGTH_MAX = 256
const GRANTS_EXPECTED = `at most ${GRANTS_MAX} grants such as traders=read; ada@example.com=read+manage, with the scopes read, manage and sandbox`
const ISSUER_EXPECTED =
  'the issuer as its discovery document names it, such as https://login.example.com; plain http is for practice with a provider on this machine only'

/** How operators log in by an OIDC provider. Without an issuer they do not. */
export const OIDC_SETTINGS = {
  oidcIssuer: {
    group: 'Logins of operators',
    env: 'TRUNKLINE_OIDC_ISSUER',
    parse: optionalIssuer,
    fallback: '',
    about:
      'OIDC provider by which operators log in to the console, besides the codes of `operator link`: its issuer, exactly as its discovery document has it. Register `<public URL>/admin/v1/oidc/callback` there as the redirect address. Empty: codes only.'
  },
  oidcClientId: {
    group: 'Logins of operators',
    env: 'TRUNKLINE_OIDC_CLIENT_ID',
    parse: optionalText,
    fallback: '',
    about: 'Client id of this service at the provider.'
  },
  oidcClientSecret: {
    group: 'Logins of operators',
    env: 'TRUNKLINE_OIDC_CLIENT_SECRET',
    parse: optionalText,
    fallback: '',
    about: 'Client secret of this service at the provider.',
    secret: true
  },
  oidcName: {
    group: 'Logins of operators',
    env: 'TRUNKLINE_OIDC_NAME',
    parse: optionalName,
    fallback: '',
    about: 'Name of the provider on the login page. Empty: the host of its issuer.'
  },
  oidcRequest: {
    group: 'Logins of operators',
    env: 'TRUNKLINE_OIDC_REQUEST',
    parse: oidcScopes,
    fallback: 'openid',
    about:
      'Scopes to request from the provider, separated by spaces, `openid` among them. Many need `email` or `groups` to tell these. They have nothing to do with the scopes of operators.'
  },
  oidcOperatorClaim: {
    group: 'Logins of operators',
    env: 'TRUNKLINE_OIDC_OPERATOR_CLAIM',
    parse: claimName,
    fallback: 'sub',
    about:
      'Claim of the ID token, or else of UserInfo, that names the operator in the audit log. `email` is taken only if the provider says that it is verified.'
  },
  oidcGrantClaim: {
    group: 'Logins of operators',
    env: 'TRUNKLINE_OIDC_GRANT_CLAIM',
    parse: claimName,
    fallback: 'sub',
    about: 'Claim that scopes are granted by: a text, or a list of texts such as `groups`. Choose one that people cannot change themselves.'
  },
  oidcGrants: {
    group: 'Logins of operators',
    env: 'TRUNKLINE_OIDC_GRANTS',
    parse: operatorGrants,
    fallback: '',
    about:
      'Who may log in, and with which scopes: values of that claim, such as `traders=read; ops=read+manage+sandbox`, separated by semicolons. Several values give the scopes of all. Everybody else is refused. Empty: nobody.'
  }
} as const satisfies Table

/** What {@link oidcFaults} looks at. `undefined` is a setting that could not be read, which has a fault of its own. */
interface Given {
  readonly oidcIssuer?: string | null
  readonly oidcClientId?: string | null
  readonly oidcClientSecret?: string | null
  readonly oidcGrants?: readonly OperatorGrant[]
  readonly publicUrl?: string | null
}

/** What is missing for logins by a provider, or does not fit together. */
export function oidcFaults({ oidcIssuer, oidcClientId, oidcClientSecret, oidcGrants, publicUrl }: Given): readonly SettingFault[] {
  if (oidcIssuer === undefined) return []
  if (oidcIssuer === null) {
    const isGiven = (oidcClientId ?? null) !== null || (oidcClientSecret ?? null) !== null || (oidcGrants ?? []).length > 0
    return isGiven ? [{ env: 'TRUNKLINE_OIDC_ISSUER', message: 'must be set, too: the other settings of the provider need it' }] : []
  }
  const missing = 'must be set for TRUNKLINE_OIDC_ISSUER: the provider gives it to each client that is registered there'
  const faults: SettingFault[] = []
  if (oidcClientId === null) faults.push({ env: 'TRUNKLINE_OIDC_CLIENT_ID', message: missing })
  if (oidcClientSecret === null) faults.push({ env: 'TRUNKLINE_OIDC_CLIENT_SECRET', message: missing })
  if (publicUrl != null && !isSafe(new URL(publicUrl)))
    faults.push({
      env: 'TRUNKLINE_PUBLIC_URL',
      message: 'must be https for TRUNKLINE_OIDC_ISSUER: over plain http, others on the network could take a login over'
    })
  return faults
}

/** Encrypted, or within this machine. */
export function isSafe({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))
}

function optionalIssuer(value: string): string | null {
  if (value === '') return null
  const url = URL.parse(value)
  const isIssuer = url !== null && isSafe(url) && !/[?#@\s]/.test(value) && !value.includes('/.well-known/')
  if (!isIssuer) throw new Error(ISSUER_EXPECTED)
  return value
}

function optionalName(value: string): string | null {
  if (value.length > 60 || /\p{Cc}/u.test(value)) throw new Error('a name of at most 60 characters on one line')
  return optionalText(value)
}

function oidcScopes(value: string): string {
  const scopes = text(value).split(/\s+/)
  if (value.length > 512 || !scopes.includes('openid') || !scopes.every(scope => /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope)))
    throw new Error('scopes separated by spaces, with openid among them')
  return scopes.join(' ')
}

function claimName(value: string): string {
  if (!/^[\x21-\x7e]{1,128}$/.test(value)) throw new Error('the name of a claim, such as sub, email or groups')
  return value
}

/** The scopes follow the last `=`: names of groups may have others. */
function operatorGrants(text: string): readonly OperatorGrant[] {
  const items = text.split(';').map(item => item.trim())
  const grants = items.filter(item => item !== '').map(operatorGrant)
  if (grants.length > GRANTS_MAX) throw new Error(GRANTS_EXPECTED)
  return grants
}

function operatorGrant(item: string): OperatorGrant {
  const end = item.lastIndexOf('=')
  const value = item.slice(0, Math.max(end, 0)).trim()
  const scopes = item.slice(end + 1).split('+')
  if (value === '' || value.length > VALUE_LENGTH_MAX) throw new Error(GRANTS_EXPECTED)
  try {
    return { value, scopes: parseOperatorScopes(scopes.map(scope => scope.trim())) }
  } catch (cause) {
    throw new Error(GRANTS_EXPECTED, { cause })
  }
}
