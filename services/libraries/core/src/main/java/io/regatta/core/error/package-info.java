/**
 * The errors that Regatta reports, and the check of texts that come from outside. Every module throws and reads them.
 * Part of the public API.
 */
package io.regatta.core.error;
