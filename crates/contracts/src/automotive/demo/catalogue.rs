//! The cars of the demo dealerships. The VINs of every entry must decode in NHTSA's vPIC to its make, model and years;
//! `scripts/interop/vins.py` checks that.

use crate::automotive::vehicle::{BodyStyle, Drivetrain, FuelType, Transmission};

/// One kind of car over several model years.
pub(in crate::automotive) struct CatalogueEntry {
    pub(in crate::automotive) vin: VinSpec,
    pub(in crate::automotive) car: CarSpec,
    pub(in crate::automotive) powertrain: Powertrain,
    /// List price of the last year, in whole dollars.
    pub(in crate::automotive) msrp: i64,
}

/// The parts of its VINs: positions 1 to 8, position 11, and the first and last year of position 10.
#[derive(Clone, Copy)]
pub(in crate::automotive) struct VinSpec(
    pub(in crate::automotive) &'static str,
    pub(in crate::automotive) char,
    pub(in crate::automotive) u16,
    pub(in crate::automotive) u16,
);

/// Make, model, trim, body style, doors.
#[derive(Clone, Copy)]
pub(in crate::automotive) struct CarSpec(
    pub(in crate::automotive) &'static str,
    pub(in crate::automotive) &'static str,
    pub(in crate::automotive) &'static str,
    pub(in crate::automotive) BodyStyle,
    pub(in crate::automotive) u8,
);

/// Engine, transmission, drivetrain, fuel.
#[derive(Clone, Copy)]
pub(in crate::automotive) struct Powertrain(
    pub(in crate::automotive) &'static str,
    pub(in crate::automotive) Transmission,
    pub(in crate::automotive) Drivetrain,
    pub(in crate::automotive) FuelType,
);

const fn entry(vin: VinSpec, car: CarSpec, powertrain: Powertrain, msrp: i64) -> CatalogueEntry {
    CatalogueEntry { vin, car, powertrain, msrp }
}

#[rustfmt::skip]
pub(in crate::automotive) const CATALOGUE: &[CatalogueEntry] = &[
    entry(VinSpec("2T3P1RFV", 'C', 2019, 2024), CarSpec("Toyota", "RAV4", "XLE", BodyStyle::Crossover, 4), Powertrain("2.5L I4", Transmission::Automatic, Drivetrain::Awd, FuelType::Gasoline), 31_900),
    entry(VinSpec("1FTEW1EP", 'F', 2018, 2024), CarSpec("Ford", "F-150", "XLT", BodyStyle::Pickup, 4), Powertrain("2.7L V6 turbo", Transmission::Automatic, Drivetrain::FourWd, FuelType::Gasoline), 51_400),
    entry(VinSpec("1HGCV1F3", 'A', 2018, 2022), CarSpec("Honda", "Accord", "Sport", BodyStyle::Sedan, 4), Powertrain("1.5L I4 turbo", Transmission::Cvt, Drivetrain::Fwd, FuelType::Gasoline), 29_100),
    entry(VinSpec("5YJ3E1EA", 'F', 2019, 2022), CarSpec("Tesla", "Model 3", "Standard Range Plus", BodyStyle::Sedan, 4), Powertrain("Single electric motor", Transmission::DirectDrive, Drivetrain::Rwd, FuelType::Electric), 44_900),
    entry(VinSpec("1C4RJFBG", 'C', 2016, 2021), CarSpec("Jeep", "Grand Cherokee", "Limited", BodyStyle::Suv, 4), Powertrain("3.6L V6", Transmission::Automatic, Drivetrain::FourWd, FuelType::Gasoline), 43_700),
    entry(VinSpec("1GCUDDED", 'Z', 2022, 2024), CarSpec("Chevrolet", "Silverado 1500", "LT", BodyStyle::Pickup, 4), Powertrain("5.3L V8", Transmission::Automatic, Drivetrain::FourWd, FuelType::Gasoline), 54_200),
    entry(VinSpec("2HKRW2H8", 'H', 2017, 2022), CarSpec("Honda", "CR-V", "EX-L", BodyStyle::Crossover, 4), Powertrain("1.5L I4 turbo", Transmission::Cvt, Drivetrain::Awd, FuelType::Gasoline), 33_600),
    entry(VinSpec("4T1C11AK", 'U', 2020, 2024), CarSpec("Toyota", "Camry", "LE", BodyStyle::Sedan, 4), Powertrain("2.5L I4", Transmission::Automatic, Drivetrain::Fwd, FuelType::Gasoline), 27_800),
    entry(VinSpec("4S4BTACC", '3', 2020, 2024), CarSpec("Subaru", "Outback", "Premium", BodyStyle::Wagon, 4), Powertrain("2.5L flat-4", Transmission::Cvt, Drivetrain::Awd, FuelType::Gasoline), 32_400),
    entry(VinSpec("5XYP5DHC", 'G', 2020, 2024), CarSpec("Kia", "Telluride", "SX", BodyStyle::Suv, 4), Powertrain("3.8L V6", Transmission::Automatic, Drivetrain::Awd, FuelType::Gasoline), 50_300),
    entry(VinSpec("1FMSK8DH", 'G', 2020, 2024), CarSpec("Ford", "Explorer", "XLT", BodyStyle::Suv, 4), Powertrain("2.3L I4 turbo", Transmission::Automatic, Drivetrain::FourWd, FuelType::Gasoline), 43_800),
    entry(VinSpec("KM8JBCAE", 'U', 2022, 2024), CarSpec("Hyundai", "Tucson", "SEL", BodyStyle::Crossover, 4), Powertrain("2.5L I4", Transmission::Automatic, Drivetrain::Awd, FuelType::Gasoline), 31_300),
    entry(VinSpec("5TDYRKEC", 'S', 2021, 2024), CarSpec("Toyota", "Sienna", "XLE", BodyStyle::Minivan, 4), Powertrain("2.5L I4 hybrid", Transmission::Cvt, Drivetrain::Fwd, FuelType::Hybrid), 44_600),
    entry(VinSpec("1N4BL4DV", 'C', 2019, 2024), CarSpec("Nissan", "Altima", "SV", BodyStyle::Sedan, 4), Powertrain("2.5L I4", Transmission::Cvt, Drivetrain::Fwd, FuelType::Gasoline), 27_200),
    entry(VinSpec("1FA6P8CF", '5', 2018, 2024), CarSpec("Ford", "Mustang", "GT", BodyStyle::Coupe, 2), Powertrain("5.0L V8", Transmission::Manual, Drivetrain::Rwd, FuelType::Gasoline), 44_100),
    entry(VinSpec("3VV3B7AX", 'M', 2018, 2024), CarSpec("Volkswagen", "Tiguan", "SE", BodyStyle::Crossover, 4), Powertrain("2.0L I4 turbo", Transmission::Automatic, Drivetrain::Fwd, FuelType::Gasoline), 31_800),
    entry(VinSpec("5UX53DP0", '9', 2022, 2024), CarSpec("BMW", "X3", "xDrive30i", BodyStyle::Suv, 4), Powertrain("2.0L I4 turbo", Transmission::Automatic, Drivetrain::Awd, FuelType::Gasoline), 49_900),
    entry(VinSpec("1C6SRFFT", 'N', 2019, 2024), CarSpec("Ram", "1500", "Big Horn", BodyStyle::Pickup, 4), Powertrain("5.7L V8", Transmission::Automatic, Drivetrain::FourWd, FuelType::Gasoline), 52_700),
    entry(VinSpec("JM3KFBDM", '0', 2018, 2021), CarSpec("Mazda", "CX-5", "Grand Touring", BodyStyle::Crossover, 4), Powertrain("2.5L I4", Transmission::Automatic, Drivetrain::Awd, FuelType::Gasoline), 32_200),
    entry(VinSpec("7SAYGDEE", 'F', 2022, 2024), CarSpec("Tesla", "Model Y", "Long Range", BodyStyle::Crossover, 4), Powertrain("Dual electric motors", Transmission::DirectDrive, Drivetrain::Awd, FuelType::Electric), 50_500),
    entry(VinSpec("3TMCZ5AN", 'M', 2019, 2023), CarSpec("Toyota", "Tacoma", "SR5", BodyStyle::Pickup, 4), Powertrain("3.5L V6", Transmission::Automatic, Drivetrain::FourWd, FuelType::Gasoline), 39_400),
    entry(VinSpec("5FNRL6H9", 'B', 2018, 2024), CarSpec("Honda", "Odyssey", "Elite", BodyStyle::Minivan, 4), Powertrain("3.5L V6", Transmission::Automatic, Drivetrain::Fwd, FuelType::Gasoline), 51_200),
    entry(VinSpec("1C4HJXEN", 'W', 2018, 2024), CarSpec("Jeep", "Wrangler", "Unlimited Sahara", BodyStyle::Suv, 4), Powertrain("3.6L V6", Transmission::Automatic, Drivetrain::FourWd, FuelType::Gasoline), 49_500),
    entry(VinSpec("3GNAXUEV", 'S', 2019, 2024), CarSpec("Chevrolet", "Equinox", "LT", BodyStyle::Crossover, 4), Powertrain("1.5L I4 turbo", Transmission::Automatic, Drivetrain::Awd, FuelType::Gasoline), 31_600),
    entry(VinSpec("19XFC2F7", 'E', 2016, 2020), CarSpec("Honda", "Civic", "EX", BodyStyle::Sedan, 4), Powertrain("2.0L I4", Transmission::Cvt, Drivetrain::Fwd, FuelType::Gasoline), 24_200),
    entry(VinSpec("1N4AZ1CV", 'C', 2020, 2024), CarSpec("Nissan", "Leaf", "SV", BodyStyle::Hatchback, 4), Powertrain("Single electric motor", Transmission::DirectDrive, Drivetrain::Fwd, FuelType::Electric), 36_200),
    entry(VinSpec("WA1BAAFY", '2', 2021, 2024), CarSpec("Audi", "Q5", "Premium Plus", BodyStyle::Suv, 4), Powertrain("2.0L I4 turbo", Transmission::DualClutch, Drivetrain::Awd, FuelType::Gasoline), 51_800),
    entry(VinSpec("2C4RC1BG", 'R', 2018, 2024), CarSpec("Chrysler", "Pacifica", "Touring L", BodyStyle::Minivan, 4), Powertrain("3.6L V6", Transmission::Automatic, Drivetrain::Fwd, FuelType::Gasoline), 42_300),
    entry(VinSpec("1FATP8UH", '5', 2018, 2023), CarSpec("Ford", "Mustang", "EcoBoost Convertible", BodyStyle::Convertible, 2), Powertrain("2.3L I4 turbo", Transmission::Automatic, Drivetrain::Rwd, FuelType::Gasoline), 37_600),
    entry(VinSpec("2T3RWRFV", 'C', 2019, 2024), CarSpec("Toyota", "RAV4", "XLE Hybrid", BodyStyle::Crossover, 4), Powertrain("2.5L I4 hybrid", Transmission::Cvt, Drivetrain::Awd, FuelType::Hybrid), 33_500),
    entry(VinSpec("1GNSKNKD", 'R', 2021, 2024), CarSpec("Chevrolet", "Tahoe", "LT", BodyStyle::Suv, 4), Powertrain("5.3L V8", Transmission::Automatic, Drivetrain::FourWd, FuelType::Gasoline), 66_900),
    entry(VinSpec("5NPEG4JA", 'H', 2020, 2024), CarSpec("Hyundai", "Sonata", "SE", BodyStyle::Sedan, 4), Powertrain("2.5L I4", Transmission::Automatic, Drivetrain::Fwd, FuelType::Gasoline), 26_100),
    entry(VinSpec("1FT7W2BT", 'E', 2019, 2024), CarSpec("Ford", "F-250", "XLT", BodyStyle::Pickup, 4), Powertrain("6.7L V8 turbo diesel", Transmission::Automatic, Drivetrain::FourWd, FuelType::Diesel), 68_300),
    entry(VinSpec("5N1BT3BB", 'C', 2021, 2024), CarSpec("Nissan", "Rogue", "SV", BodyStyle::Crossover, 4), Powertrain("1.5L I3 turbo", Transmission::Cvt, Drivetrain::Awd, FuelType::Gasoline), 32_700),
    entry(VinSpec("55SWF8DB", 'U', 2019, 2021), CarSpec("Mercedes-Benz", "C-Class", "C300", BodyStyle::Sedan, 4), Powertrain("2.0L I4 turbo", Transmission::Automatic, Drivetrain::Rwd, FuelType::Gasoline), 43_900),
    entry(VinSpec("JF2SKASC", 'H', 2019, 2021), CarSpec("Subaru", "Forester", "Limited", BodyStyle::Crossover, 4), Powertrain("2.5L flat-4", Transmission::Cvt, Drivetrain::Awd, FuelType::Gasoline), 32_100),
    entry(VinSpec("3FMTK3SU", 'M', 2021, 2024), CarSpec("Ford", "Mustang Mach-E", "Premium", BodyStyle::Crossover, 4), Powertrain("Dual electric motors", Transmission::DirectDrive, Drivetrain::Awd, FuelType::Electric), 52_900),
    entry(VinSpec("5YFS4MCE", 'P', 2020, 2024), CarSpec("Toyota", "Corolla", "SE", BodyStyle::Sedan, 4), Powertrain("2.0L I4", Transmission::Cvt, Drivetrain::Fwd, FuelType::Gasoline), 24_900),
    entry(VinSpec("1C4JJXP6", 'W', 2021, 2024), CarSpec("Jeep", "Wrangler", "Sahara 4xe", BodyStyle::Suv, 4), Powertrain("2.0L I4 turbo plug-in hybrid", Transmission::Automatic, Drivetrain::FourWd, FuelType::PlugInHybrid), 58_400),
    entry(VinSpec("1G1ZD5ST", 'F', 2018, 2024), CarSpec("Chevrolet", "Malibu", "LT", BodyStyle::Sedan, 4), Powertrain("1.5L I4 turbo", Transmission::Cvt, Drivetrain::Fwd, FuelType::Gasoline), 28_400),
    entry(VinSpec("5TDGZRBH", 'S', 2020, 2022), CarSpec("Toyota", "Highlander", "XLE", BodyStyle::Suv, 4), Powertrain("3.5L V6", Transmission::Automatic, Drivetrain::Awd, FuelType::Gasoline), 43_200),
    entry(VinSpec("3VW6T7AU", 'M', 2019, 2021), CarSpec("Volkswagen", "Golf GTI", "SE", BodyStyle::Hatchback, 4), Powertrain("2.0L I4 turbo", Transmission::DualClutch, Drivetrain::Fwd, FuelType::Gasoline), 34_600),
    entry(VinSpec("2T2BZMCA", 'C', 2016, 2019), CarSpec("Lexus", "RX", "350", BodyStyle::Suv, 4), Powertrain("3.5L V6", Transmission::Automatic, Drivetrain::Awd, FuelType::Gasoline), 47_300),
    entry(VinSpec("1FTBR1Y8", 'K', 2019, 2024), CarSpec("Ford", "Transit", "250 Low Roof", BodyStyle::Van, 3), Powertrain("3.5L V6", Transmission::Automatic, Drivetrain::Rwd, FuelType::Gasoline), 48_600),
    entry(VinSpec("KM8KRDAF", 'U', 2022, 2024), CarSpec("Hyundai", "Ioniq 5", "Limited", BodyStyle::Crossover, 4), Powertrain("Dual electric motors", Transmission::DirectDrive, Drivetrain::Awd, FuelType::Electric), 57_200),
    entry(VinSpec("1HGCY1F3", 'A', 2023, 2024), CarSpec("Honda", "Accord", "EX", BodyStyle::Sedan, 4), Powertrain("1.5L I4 turbo", Transmission::Cvt, Drivetrain::Fwd, FuelType::Gasoline), 31_000),
    entry(VinSpec("1GNSKBKC", 'R', 2016, 2020), CarSpec("Chevrolet", "Tahoe", "LT", BodyStyle::Suv, 4), Powertrain("5.3L V8", Transmission::Automatic, Drivetrain::FourWd, FuelType::FlexFuel), 58_700),
    entry(VinSpec("JM1NDAD7", '0', 2018, 2024), CarSpec("Mazda", "MX-5 Miata", "Grand Touring", BodyStyle::Convertible, 2), Powertrain("2.0L I4", Transmission::Manual, Drivetrain::Rwd, FuelType::Gasoline), 35_200),
    entry(VinSpec("1C4RJHBG", 'C', 2022, 2024), CarSpec("Jeep", "Grand Cherokee", "Limited", BodyStyle::Suv, 4), Powertrain("3.6L V6", Transmission::Automatic, Drivetrain::FourWd, FuelType::Gasoline), 49_100),
    entry(VinSpec("JTDKARFP", '3', 2018, 2020), CarSpec("Toyota", "Prius Prime", "Premium", BodyStyle::Hatchback, 4), Powertrain("1.8L I4 plug-in hybrid", Transmission::Cvt, Drivetrain::Fwd, FuelType::PlugInHybrid), 30_300),
    entry(VinSpec("5UXCR6C0", '9', 2020, 2023), CarSpec("BMW", "X5", "xDrive40i", BodyStyle::Suv, 4), Powertrain("3.0L I6 turbo", Transmission::Automatic, Drivetrain::Awd, FuelType::Gasoline), 66_400),
    entry(VinSpec("4T1K61AK", 'U', 2020, 2024), CarSpec("Toyota", "Camry", "XSE", BodyStyle::Sedan, 4), Powertrain("2.5L I4", Transmission::Automatic, Drivetrain::Fwd, FuelType::Gasoline), 33_300),
    entry(VinSpec("1GCUYDED", 'Z', 2019, 2021), CarSpec("Chevrolet", "Silverado 1500", "LT", BodyStyle::Pickup, 4), Powertrain("5.3L V8", Transmission::Automatic, Drivetrain::FourWd, FuelType::Gasoline), 49_300),
    entry(VinSpec("1FMCU9G6", 'U', 2020, 2022), CarSpec("Ford", "Escape", "SE", BodyStyle::Crossover, 4), Powertrain("1.5L I3 turbo", Transmission::Automatic, Drivetrain::Awd, FuelType::Gasoline), 30_400),
    entry(VinSpec("3C6UR5DL", 'G', 2019, 2024), CarSpec("Ram", "2500", "Big Horn", BodyStyle::Pickup, 4), Powertrain("6.7L I6 turbo diesel", Transmission::Automatic, Drivetrain::FourWd, FuelType::Diesel), 67_500),
    entry(VinSpec("2HKRW2H5", 'H', 2017, 2022), CarSpec("Honda", "CR-V", "EX", BodyStyle::Crossover, 4), Powertrain("1.5L I4 turbo", Transmission::Cvt, Drivetrain::Awd, FuelType::Gasoline), 31_000),
    entry(VinSpec("KM8J3CA4", 'U', 2017, 2021), CarSpec("Hyundai", "Tucson", "SEL", BodyStyle::Crossover, 4), Powertrain("2.0L I4", Transmission::Automatic, Drivetrain::Awd, FuelType::Gasoline), 27_000),
    entry(VinSpec("1G1FY6S0", '4', 2019, 2022), CarSpec("Chevrolet", "Bolt EV", "LT", BodyStyle::Hatchback, 4), Powertrain("Single electric motor", Transmission::DirectDrive, Drivetrain::Fwd, FuelType::Electric), 34_500),
    entry(VinSpec("W1KZF8DB", 'A', 2020, 2023), CarSpec("Mercedes-Benz", "E-Class", "E350", BodyStyle::Sedan, 4), Powertrain("2.0L I4 turbo", Transmission::Automatic, Drivetrain::Rwd, FuelType::Gasoline), 57_800),
    entry(VinSpec("5XYRKDLF", 'G', 2021, 2024), CarSpec("Kia", "Sorento", "SX", BodyStyle::Suv, 4), Powertrain("2.5L I4 turbo", Transmission::DualClutch, Drivetrain::Awd, FuelType::Gasoline), 42_600),
    entry(VinSpec("3C4NJDCB", 'T', 2018, 2022), CarSpec("Jeep", "Compass", "Limited", BodyStyle::Crossover, 4), Powertrain("2.4L I4", Transmission::Automatic, Drivetrain::FourWd, FuelType::Gasoline), 32_500),
    entry(VinSpec("19XFL2H8", 'N', 2022, 2024), CarSpec("Honda", "Civic", "Sport", BodyStyle::Hatchback, 4), Powertrain("2.0L I4", Transmission::Cvt, Drivetrain::Fwd, FuelType::Gasoline), 26_900),
    entry(VinSpec("1GTU9DED", 'Z', 2019, 2021), CarSpec("GMC", "Sierra 1500", "SLT", BodyStyle::Pickup, 4), Powertrain("5.3L V8", Transmission::Automatic, Drivetrain::FourWd, FuelType::Gasoline), 53_400),
    entry(VinSpec("3VW7M7BU", 'M', 2022, 2024), CarSpec("Volkswagen", "Jetta", "SE", BodyStyle::Sedan, 4), Powertrain("1.5L I4 turbo", Transmission::Automatic, Drivetrain::Fwd, FuelType::Gasoline), 25_700),
    entry(VinSpec("3VW2B7AJ", 'M', 2016, 2018), CarSpec("Volkswagen", "Jetta", "S", BodyStyle::Sedan, 4), Powertrain("1.4L I4 turbo", Transmission::Manual, Drivetrain::Fwd, FuelType::Gasoline), 19_800),
    entry(VinSpec("WBA5R1C5", 'A', 2021, 2022), CarSpec("BMW", "330i", "Sport Line", BodyStyle::Sedan, 4), Powertrain("2.0L I4 turbo", Transmission::Automatic, Drivetrain::Rwd, FuelType::Gasoline), 43_300),
    entry(VinSpec("2C4RC1N7", 'R', 2019, 2021), CarSpec("Chrysler", "Pacifica", "Hybrid Limited", BodyStyle::Minivan, 4), Powertrain("3.6L V6 plug-in hybrid", Transmission::Cvt, Drivetrain::Fwd, FuelType::PlugInHybrid), 47_900),
    entry(VinSpec("1G1FF3D7", '0', 2018, 2024), CarSpec("Chevrolet", "Camaro", "1SS", BodyStyle::Convertible, 2), Powertrain("6.2L V8", Transmission::Automatic, Drivetrain::Rwd, FuelType::Gasoline), 49_700),
    entry(VinSpec("JTDBVRBD", 'A', 2016, 2020), CarSpec("Toyota", "Mirai", "Base", BodyStyle::Sedan, 4), Powertrain("Fuel cell electric motor", Transmission::DirectDrive, Drivetrain::Fwd, FuelType::Hydrogen), 58_500),
    entry(VinSpec("5TFJA5DB", 'X', 2022, 2024), CarSpec("Toyota", "Tundra", "Limited", BodyStyle::Pickup, 4), Powertrain("3.4L V6 turbo", Transmission::Automatic, Drivetrain::FourWd, FuelType::Gasoline), 60_200),
    entry(VinSpec("5FNYF6H5", 'B', 2016, 2022), CarSpec("Honda", "Pilot", "EX-L", BodyStyle::Suv, 4), Powertrain("3.5L V6", Transmission::Automatic, Drivetrain::Awd, FuelType::Gasoline), 42_800),
];
