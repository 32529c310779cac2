import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Some tests compile kernels or run a whole browser.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // Thousands of tests: where nobody watches, only what failed and the totals.
    reporters: process.env.CI ? ['dot'] : ['default'],
  },
})
