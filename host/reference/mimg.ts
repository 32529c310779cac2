/** Image operations: not run. */
export {}
