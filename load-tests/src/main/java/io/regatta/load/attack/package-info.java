/**
 * An attacker that reaches all ports of a job, and has neither its token nor its keys. Run by {@code
 * deploy/attacker-test.sh}, with the class path of Regatta's command line.
 */
package io.regatta.load.attack;
