/** Trading calendars: when a market is open, by rule. */
export * from './calendar.ts'
export { continuousCalendar } from './continuous.ts'
export { usEquityCalendar } from './us-equity.ts'
export { usEarlyCloses, usHolidays } from './us-holidays.ts'
export { dateAtInstant, midnight } from './zone.ts'
