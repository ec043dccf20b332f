/**
 * The options that several commands have, which become keys of a job and of its sections. Commands and
 * {@link io.regatta.fleet.FleetBuilder} take them as mixins of picocli.
 */
package io.regatta.fleet.command.option;
