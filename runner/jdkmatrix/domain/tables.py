"""Tables of matrix.toml that several other tables contain."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, model_validator

Seconds = Annotated[float, Field(gt=0, le=86_400)]


class Table(BaseModel):
    """A table without infinity and NaN, which JSON, and so a record of the table, cannot express."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _booleans(cls, data: Any) -> Any:
        """Refuse what Pydantic would accept: `true` for the number 1, and "yes" for `true`."""
        for key, field in cls.model_fields.items() if isinstance(data, dict) else ():
            value = data.get(key)
            values = value if isinstance(value, list) else [value]
            found = next((one for one in values if isinstance(one, bool)), None)
            if found is not None and not _may_be_boolean(field.annotation):
                raise ValueError(f"{key}: found {str(found).lower()}, and a boolean means nothing here")
            if field.annotation is bool and value is not None and found is None:
                raise ValueError(f"{key}: found {value!r}; must be true or false")
        return data


def _may_be_boolean(annotation: Any) -> bool:
    return annotation in (bool, Any) or any(map(_may_be_boolean, get_args(annotation)))


class VmOptions(Table):
    options: tuple[str, ...]


class Jvm(Table):
    hotspot: VmOptions
    openj9: VmOptions


class Limits(Table):
    """Resource limits of a server's processes; None: those of the host. `memory_bytes_max`: resident memory, and the
    kernel memory that counts with it. `threads_max`: over all its processes. `cpu_quota_cpus`: CPU seconds per second,
    on however many CPUs, like a container's limit; the kernel throttles what goes beyond it."""

    threads_max: Annotated[int, Field(ge=1)] | None = None
    memory_bytes_max: Annotated[int, Field(ge=1 << 20)] | None = None
    open_files_max: Annotated[int, Field(ge=16)] | None = None
    cpu_quota_cpus: Annotated[float, Field(ge=0.01, le=1024)] | None = None


ConnectionPool = Literal["hikari", "agroal"]


class Database(Table):
    """The fork's own PostgreSQL, where the application keeps its accounts. `pool`: the library that pools the
    connections; `connections`: how many it keeps open; `wait_ms_max`: a request that has no connection after this time
    fails."""

    pool: ConnectionPool = "hikari"
    connections: Annotated[int, Field(ge=1, le=1000)]
    wait_ms_max: Annotated[int, Field(ge=250, le=600_000)] = 5_000


class RemoteAnswers(Table):
    """The remote system's answers: `size_bytes` after the delay of axis `wait_us`, which is always the same (`fixed`)
    or the mean of an exponential or lognormal distribution (`sigma`: of the logarithm), drawn with `seed`."""

    size_bytes: Annotated[int, Field(ge=0, le=10_485_760)]
    spread: Literal["fixed", "exponential", "lognormal"] = "fixed"
    sigma: Annotated[float, Field(gt=0, le=3)] | None = None
    seed: int = 1

    @model_validator(mode="after")
    def _has_its_sigma(self) -> Self:
        if (self.spread == "lognormal") != (self.sigma is not None):
            raise ValueError('sigma: spread = "lognormal" needs it, and no other spread takes it')
        return self

    def query(self, wait_us: int) -> str:
        """Return the query string that asks the remote system for such an answer."""
        parts = [f"delay_us={wait_us}", f"size_bytes={self.size_bytes}"]
        if self.spread != "fixed":
            parts += [f"spread={self.spread}", f"seed={self.seed}"]
        if self.sigma is not None:
            parts.append(f"sigma={self.sigma:g}")
        return "&".join(parts)
