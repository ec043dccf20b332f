package io.regatta.fleet.process;

import io.regatta.training.config.JobConfig;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;

/**
 * The sections of the services of a whole job in one process, one for each kind: server, rank and job come from the
 * cluster. Immutable.
 *
 * @param sections by their records
 */
public record ServiceConfigs(Map<Class<? extends Record>, Record> sections) {

  public ServiceConfigs {
    sections = Map.copyOf(sections);
  }

  /** Returns the defaults. */
  public static ServiceConfigs defaults(JobConfig job) {
    return new ServiceConfigs(ofEach(part -> part.defaults().apply(job)));
  }

  /** Returns the sections of these settings. */
  static ServiceConfigs of(ProcessSettings settings, JobConfig job) {
    return new ServiceConfigs(ofEach(part -> part.settings().apply(settings, job)));
  }

  private static Map<Class<? extends Record>, Record> ofEach(Function<Service.WholeJob<?>, Record> section) {
    Map<Class<? extends Record>, Record> sections = new HashMap<>();
    Services.all().stream().filter(service -> service.wholeJob() != null)
        .forEach(service -> sections.put(service.section(), section.apply(service.wholeJob())));
    return sections;
  }

  /** Returns the section of this record. */
  public <C extends Record> C of(Class<C> section) {
    return section.cast(sections.get(section));
  }

  /** Returns the same sections but for this one. */
  public ServiceConfigs with(Record section) {
    Map<Class<? extends Record>, Record> changed = new HashMap<>(sections);
    changed.put(section.getClass(), section);
    return new ServiceConfigs(changed);
  }
}
