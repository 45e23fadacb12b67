/** Terms of options that follow from what they are. */

export const CONTRACT_SIZE = 100

/** Third Fridays are the standard ones. */
export function expirationType(expiration: string): 'standard' | 'weeklys' {
  const { dayOfWeek, day } = Temporal.PlainDate.from(expiration)
  return dayOfWeek === 5 && day >= 15 && day <= 21 ? 'standard' : 'weeklys'
}

/** The letters before the date: what Tradier calls the root. */
export function rootOf(option: string): string {
  return /^[A-Z]+/.exec(option)?.[0] ?? option
}
