/** Trading calendars: when a market is open, by rule. */
export * from './calendar.ts'
export { cmeCalendar } from './cme.ts'
export { continuousCalendar } from './continuous.ts'
export { usEquityCalendar } from './us-equity.ts'
export { usEarlyCloses, usHolidays } from './us-holidays.ts'
export { usOptionCalendar } from './us-option.ts'
export { dateAtInstant, daysAfter, midnight } from './zone.ts'
