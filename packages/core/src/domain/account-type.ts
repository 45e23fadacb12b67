/** Account types, common to all brokers. */
export const ACCOUNT_TYPES = ['cash', 'margin', 'retirement', 'futures', 'crypto', 'other'] as const
export type AccountType = (typeof ACCOUNT_TYPES)[number]

const PATTERNS: readonly (readonly [RegExp, AccountType])[] = [
  [/\b(?:ira|roth|sep|401k|retirement|pension)\b/, 'retirement'],
  [/\bfutures?\b/, 'futures'],
  [/\b(?:crypto|coin)\b/, 'crypto'],
  [/\b(?:margin|pdt)\b/, 'margin'],
  [/\bcash\b/, 'cash']
]

/** Maps the broker's own account type; null if it has none. */
export function accountTypeOf(brokerType: string | null): AccountType | null {
  if (brokerType === null) return null
  const plain = brokerType.toLowerCase().replaceAll(/[_-]/g, ' ')
  return PATTERNS.find(([pattern]) => pattern.test(plain))?.[1] ?? 'other'
}
