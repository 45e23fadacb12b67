// What the claims about a person mean here.
import type { ProvenIdentity } from '@trunkline/core/app/operators/provider-login'
import { LoginRefused } from './faults.ts'

type Claims = Readonly<Record<string, unknown>>

export interface ClaimsRead {
  readonly host: string
  readonly subject: string
  readonly operatorClaim: string
  readonly grantClaim: string
}

/** A name in the audit log, on one line. */
const NAME = /^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]{1,200}$/u

/** Whether the claim may be relied on: at many providers people enter any address, and only a verified one is theirs. */
export function emailIsProven(claims: Claims, name: string): boolean {
  return name !== 'email' || claims.email_verified === true
}

/**
 * The claims of an ID token and those of UserInfo, which count more. An address and whether it is verified are of one document: each could
 * speak of another address.
 */
export function mergedClaims(idToken: Claims, userInfo: Claims): Claims {
  const isPair = userInfo.email !== undefined && userInfo.email_verified !== undefined
  const { email, email_verified } = isPair || userInfo.email_verified === false ? userInfo : idToken
  return { ...idToken, ...userInfo, email, email_verified }
}

/** The person that the claims are about. A missing claim grants nothing. @throws LoginRefused if the person has no name that can be used */
export function identityOf(claims: Claims, { host, subject, operatorClaim, grantClaim }: ClaimsRead): ProvenIdentity {
  const name = claims[operatorClaim]
  if (typeof name !== 'string' || !NAME.test(name))
    throw new LoginRefused(`did not say who you are: there is no usable text in its claim ${operatorClaim}`)
  for (const claim of [operatorClaim, grantClaim])
    if (!emailIsProven(claims, claim)) throw new LoginRefused('does not say that your email address is verified')
  return { host, subject, name, grantClaim, values: textsIn(claims[grantClaim]) }
}

/** One text, or a list of them; anything else is no text. */
function textsIn(value: unknown): readonly string[] {
  return (Array.isArray(value) ? value : [value]).filter(item => typeof item === 'string')
}
