// The sandbox says `coin` for crypto. Operators read and write one word, which is that of accounts and orders.
import { ASSET_CLASSES as SANDBOX_CLASSES, ACCOUNT_KINDS as SANDBOX_KINDS } from '@trunkline/sandbox/control-terms'

/** The name for operators of what the sandbox names so. */
export function operatorName(name: string): string {
  return name === 'coin' ? 'crypto' : name
}

/** The name in the sandbox of what operators name so. */
export function sandboxName(name: string): string {
  return name === 'crypto' ? 'coin' : name
}

export const ACCOUNT_KINDS = SANDBOX_KINDS.map(operatorName)
export const ASSET_CLASSES = SANDBOX_CLASSES.map(operatorName)
