// The sandbox says `coin` for crypto. Operators read and write one word, which is that of accounts and orders.
import { ASSET_CLASSES as SANDBOX_CLASSES, ACCOUNT_KINDS as SANDBOX_KINDS } from '@trunkline/sandbox/control-terms'

/** The word of operators for one of the sandbox. */
export function operatorWord(word: string): string {
  return word === 'coin' ? 'crypto' : word
}

/** The word of the sandbox for one of operators. */
export function sandboxWord(word: string): string {
  return word === 'crypto' ? 'coin' : word
}

export const ACCOUNT_KINDS = SANDBOX_KINDS.map(operatorWord)
export const ASSET_CLASSES = SANDBOX_CLASSES.map(operatorWord)
