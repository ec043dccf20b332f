/**
 * The initial values of parameters, which do not depend on the number of shards. Tables and models call it.
 * Part of the public API.
 */
package io.regatta.core.init;
