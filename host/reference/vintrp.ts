/** Parameter interpolation. Compute waves have no parameters in their LDS, so these are not run. */
export {}
